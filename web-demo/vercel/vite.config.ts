import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const here = dirname(fileURLToPath(import.meta.url))
const shared = resolve(here, '../shared')
const pages = resolve(here, '../../server/signoff_server/pages')

export default defineConfig({
  base: '/vercel/',
  plugins: [react()],
  resolve: {
    alias: { '@shared': shared },
    // The shared source lies outside this project: what it imports is this project's.
    dedupe: ['react', 'react-dom', 'markdown-to-jsx'],
  },
  build: { outDir: resolve(pages, 'vercel'), emptyOutDir: true, target: 'es2023', chunkSizeWarningLimit: 1000 },
  server: {
    fs: { allow: [here, shared] },
    proxy: { '^/(vercel/chat|threads/)': 'http://127.0.0.1:8000' },
  },
})

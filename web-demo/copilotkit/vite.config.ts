import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const here = dirname(fileURLToPath(import.meta.url))
const shared = resolve(here, '../shared')
const pages = resolve(here, '../../server/signoff_server/pages')

export default defineConfig({
  base: '/copilotkit/',
  plugins: [react()],
  resolve: {
    alias: {
      '@shared': shared,
      // CopilotChat's markdown renderer, and its fonts for formulas.
      streamdown: resolve(here, 'src/markdown.tsx'),
      'katex/dist/katex.min.css': resolve(here, 'src/no-formulas.css'),
    },
    // The shared source lies outside this project: what it imports is this project's.
    dedupe: ['react', 'react-dom', 'markdown-to-jsx'],
  },
  build: {
    outDir: resolve(pages, 'copilotkit'),
    emptyOutDir: true,
    target: 'es2023',
    chunkSizeWarningLimit: 4000,
  },
  server: {
    fs: { allow: [here, shared] },
    proxy: { '^/(copilotkit/(info|agent)|threads/)': 'http://127.0.0.1:8000' },
  },
})

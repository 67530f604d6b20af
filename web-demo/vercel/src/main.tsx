import { createRoot } from 'react-dom/client'
import '@shared/theme.css'
import '@shared/approval.css'
import './page.css'
import { currentThread } from '@shared/thread'
import { App } from './app'

const root = document.getElementById('root')
if (root) createRoot(root).render(<App thread={currentThread()} />)

import { createRoot } from 'react-dom/client'
import '@copilotkit/react-core/v2/styles.css'
import '@shared/theme.css'
import '@shared/approval.css'
import './page.css'
import { currentThread } from '@shared/thread'
import { App } from './app'
import { followColourScheme } from './colour-scheme'

followColourScheme()

const root = document.getElementById('root')
if (root) createRoot(root).render(<App thread={currentThread()} />)

import { Prose } from '@shared/prose'

/**
 * Stands in for the markdown renderer that CopilotChat brings (see `vite.config.ts`). Ours loads no
 * image and makes no link of what a model wrote, and 15 MB of diagrams and highlighting stay out.
 */
export function Streamdown({ children }: { children?: unknown }) {
  return <Prose text={typeof children === 'string' ? children : ''} />
}

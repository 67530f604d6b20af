import { useState } from 'react'
import { CopilotKitProvider } from '@copilotkit/react-core/v2'
import { PageFrame } from '@shared/page-frame'
import { ChatPage } from './chat-page'
import { failureText } from './failure'

export function App({ thread }: { thread: string }) {
  const [failure, setFailure] = useState<string | null>(null)
  return (
    <CopilotKitProvider
      runtimeUrl="/copilotkit"
      useSingleEndpoint={false}
      enableInspector={false}
      onError={({ error, code }) => setFailure(failureText(code, error))}
    >
      <PageFrame client="CopilotKit" thread={thread} other={{ name: 'Vercel', page: '/vercel/' }}>
        <ChatPage thread={thread} failure={failure} onRunStarted={() => setFailure(null)} />
      </PageFrame>
    </CopilotKitProvider>
  )
}

const UNREACHABLE = 'The server could not be reached.'

/**
 * A sentence for what CopilotKit reports. Only the text of a run's own error comes from the server
 * and is written for people; everything else is a client's internal wording.
 */
export function failureText(code: string, error: Error): string {
  switch (code) {
    case 'agent_run_error_event':
      return error.message || 'The run failed.'
    case 'runtime_info_fetch_failed':
      return UNREACHABLE
    case 'agent_connect_failed':
      return 'The thread could not be loaded.'
    default:
      return 'The reply broke off. The server may still be at work.'
  }
}

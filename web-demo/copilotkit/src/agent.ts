/** The agent's id at the CopilotKit runtime: the name of the source that drives it. */
export const AGENT = 'default'

import type { Risk } from './action'

const RISKS: Readonly<Record<Risk, { label: string; meaning: string }>> = {
  destructive: { label: 'Destructive', meaning: 'What it does cannot be undone.' },
  open_world: { label: 'Reaches outside', meaning: 'It acts on people or systems outside this one.' },
  requires_approval: { label: 'Always asks', meaning: 'This tool never runs without a person’s answer.' },
  mutating: { label: 'Makes changes', meaning: 'It changes something.' },
  policy: { label: 'Policy', meaning: 'A rule of this service asks for a person here.' },
}

export function RiskBadge({ risk }: { risk: Risk }) {
  return (
    <span className="so-risk" data-risk={risk} data-testid="risk" title={RISKS[risk].meaning}>
      <svg viewBox="0 0 12 12" aria-hidden="true">
        <path d="M6 1.2 11.2 10.6H.8Z" />
        <path d="M6 4.8v2.6M6 8.6v.6" />
      </svg>
      {RISKS[risk].label}
    </span>
  )
}

export function riskMeaning(risk: Risk): string {
  return RISKS[risk].meaning
}

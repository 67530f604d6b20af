import { parseExact, printExact, toExact, type ExactJson } from './exact-json'

/** Why a call counts as risky, as the server says it. */
export type Risk = 'destructive' | 'open_world' | 'requires_approval' | 'mutating' | 'policy'

/**
 * One call that waits for a person: the pending action of the wire, reduced to what is shown.
 *
 * It arrives as the `metadata` of an AG-UI interrupt, or as the descriptor of a Vercel approval.
 */
export interface Action {
  /** The callId: also the interrupt id and the approval id. */
  id: string
  name: string
  /** Why the person is asked. */
  reason: string
  risk: Risk | null
  inputs: ExactJson
  /** The inputs as JSON, exactly as they will run. */
  json: string
  preview: string | null
  expiresAt: Date | null
}

export type Answer = { approved: true } | { approved: false; reason?: string }

/** What is known of a call outside its pending action. */
export interface CallFacts {
  id: string
  name: string
  inputs: unknown
  reason?: string | undefined
}

const RISKS: ReadonlySet<string> = new Set<Risk>([
  'destructive',
  'open_world',
  'requires_approval',
  'mutating',
  'policy',
])

/**
 * Reads a pending action that came over the wire.
 *
 * The inputs are taken from `description`, the server's own JSON text, because `inputs` has been
 * through `JSON.parse` and may hold rounded numbers. `facts` fill what an older server left out.
 */
export function readAction(wire: unknown, facts: CallFacts): Action {
  const source = isRecord(wire) ? wire : {}
  const inputs = readInputs(source.description, 'inputs' in source ? source.inputs : facts.inputs)
  const described = text(source.description)
  return {
    id: facts.id,
    name: text(source.name) ?? facts.name,
    reason: text(source.reason) ?? facts.reason ?? '',
    risk: readRisk(source.risk),
    inputs,
    json: described?.startsWith('{') ? described : printExact(inputs),
    preview: text(source.preview) ?? null,
    expiresAt: readTime(source.expiresAt),
  }
}

/** The inputs of a call that is not pending any more. */
export function readInputs(description: unknown, inputs: unknown): ExactJson {
  if (typeof description === 'string') {
    try {
      return parseExact(description)
    } catch {
      // "(no arguments)", or a server that describes inputs in prose.
    }
  }
  return toExact(inputs ?? {})
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function readRisk(value: unknown): Risk | null {
  return typeof value === 'string' && RISKS.has(value) ? (value as Risk) : null
}

function readTime(value: unknown): Date | null {
  if (typeof value !== 'string') return null
  const time = new Date(value)
  return Number.isNaN(time.getTime()) ? null : time
}

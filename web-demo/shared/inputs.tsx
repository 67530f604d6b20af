import type { ExactJson } from './exact-json'
import { Escaped } from './escaped'
import { escapeJsonText, warnings } from './visible-text'

/** From this length on a text is long enough to scroll, so its length is said. */
const LONG = 400

/** Deeper than this the nested list is harder to read than the JSON itself. */
const DEEPEST = 3

/** The inputs of a call as a list of names and values, complete: long values scroll. */
export function Inputs({ inputs }: { inputs: ExactJson }) {
  if (inputs.kind === 'object' && inputs.entries.length === 0) {
    return <p className="so-no-inputs">No inputs.</p>
  }
  return <Value value={inputs} depth={0} />
}

/** The same as JSON text, folded away: exact, with hidden characters as JSON escapes. */
export function ExactRequest({ json, summary }: { json: string; summary: string }) {
  return (
    <details className="so-exact">
      <summary>{summary}</summary>
      <pre tabIndex={0} dir="ltr">
        {escapeJsonText(json)}
      </pre>
    </details>
  )
}

export function TextWarnings({ text }: { text: string }) {
  return warnings(text).map((warning) => (
    <p key={warning} className="so-text-warning">
      {warning}
    </p>
  ))
}

function Value({ value, depth }: { value: ExactJson; depth: number }) {
  switch (value.kind) {
    case 'string':
      return <StringValue text={value.text} />
    case 'literal':
      return <span className="so-literal">{value.text}</span>
    case 'array':
      return value.items.length === 0 ? <Note text="empty list" /> : <ListValue items={value.items} depth={depth} />
    case 'object':
      return value.entries.length === 0 ? <Note text="empty" /> : <Fields entries={value.entries} depth={depth} />
  }
}

function Fields({ entries, depth }: { entries: [string, ExactJson][]; depth: number }) {
  return (
    <dl className="so-fields" data-depth={Math.min(depth, DEEPEST)}>
      {entries.map(([key, item]) => (
        <div key={key} className="so-field">
          <dt>
            <Escaped text={key} />
          </dt>
          <dd>
            <Value value={item} depth={depth + 1} />
          </dd>
        </div>
      ))}
    </dl>
  )
}

function ListValue({ items, depth }: { items: ExactJson[]; depth: number }) {
  return (
    <ol className="so-list">
      {items.map((item, at) => (
        <li key={at}>
          <Value value={item} depth={depth + 1} />
        </li>
      ))}
    </ol>
  )
}

function StringValue({ text }: { text: string }) {
  if (text === '') return <Note text="empty text" />
  const long = text.length > LONG
  return (
    <div className="so-string-box">
      <div className="so-string" data-long={long || undefined} tabIndex={long ? 0 : undefined}>
        <Escaped text={needsQuotes(text) ? JSON.stringify(text) : text} />
      </div>
      {long && (
        <p className="so-length">{text.length.toLocaleString('en-GB')} characters. Scroll to read all of it.</p>
      )}
    </div>
  )
}

/** The text "true" must not look like the value true, nor blanks at an end like none. */
function needsQuotes(text: string): boolean {
  return /^(true|false|null)$/.test(text) || text.trim() !== text
}

function Note({ text }: { text: string }) {
  return <span className="so-note">{text}</span>
}

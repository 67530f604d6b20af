import type { ReactNode } from 'react'
import Markdown from 'markdown-to-jsx/react'

/**
 * A model's text, with the markdown that models write.
 *
 * Nothing of it is loaded or followed: an image would carry data to whoever the model names, and a
 * link can say one address and lead to another. Both are written out, with their address.
 */
export function Prose({ text }: { text: string }) {
  return (
    <div className="so-prose">
      <Markdown options={OPTIONS}>{text}</Markdown>
    </div>
  )
}

const OPTIONS = {
  forceBlock: true,
  disableParsingRawHTML: true,
  overrides: { a: WrittenLink, img: WrittenImage, table: WideTable },
} as const

function WrittenLink({ href, children }: { href?: string; children?: ReactNode }) {
  return (
    <span>
      {children}
      {href && ` (${href})`}
    </span>
  )
}

function WrittenImage({ src, alt }: { src?: string; alt?: string }) {
  return (
    <span>
      {alt} {src && `(${src})`}
    </span>
  )
}

function WideTable({ children }: { children?: ReactNode }) {
  return (
    <div className="so-table" tabIndex={0} role="region" aria-label="Table">
      <table>{children}</table>
    </div>
  )
}

import { Fragment } from 'react'
import { segments } from './visible-text'

/** Text from a model, a tool or a person, with every character that could hide something named. */
export function Escaped({ text }: { text: string }) {
  return (
    <bdi dir="ltr">
      {segments(text).map((segment, at) =>
        segment.kind === 'text' ? (
          <Fragment key={at}>{segment.text}</Fragment>
        ) : (
          <span key={at} className="so-hidden-char" title={segment.name}>
            {segment.code}
          </span>
        ),
      )}
    </bdi>
  )
}

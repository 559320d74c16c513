import type { Action } from '@kith/protocol'
import { useEffect, useRef, useState } from 'preact/hooks'
import { shownName } from '#lib/identity.ts'
import { excerptOf } from '#lib/shown-text.ts'
import { ownIdTag } from '#platform/own-identity.ts'
import { useTexts } from '#ui/use-texts.ts'
import { textOf } from './message-text.ts'
import { messagesTexts } from './messages-texts.ts'

// So much of a message is read out.
const saidChars = 500

interface ArrivalsProps {
  readonly messages: readonly Action[]
  /** Whether the last of them is the newest there is. */
  readonly isEnd: boolean
}

/** Reads out what arrives while the conversation is open. */
export function Arrivals({ messages, isEnd }: ArrivalsProps) {
  const t = useTexts(messagesTexts)
  const last = messages.at(-1)
  const known = useRef(last?.actionId)
  const [text, setText] = useState('')
  useEffect(() => {
    if (!last || !isEnd || known.current === last.actionId) return
    known.current = last.actionId
    if (last.issuerTag !== ownIdTag())
      setText(t.said(shownName(last.issuer.name, last.issuerTag), excerptOf(textOf(last), saidChars)))
  }, [last, isEnd, t])
  return (
    <p role="status" class="visually-hidden">
      {text}
    </p>
  )
}

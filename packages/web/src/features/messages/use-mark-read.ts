import type { Action, Conversation } from '@kith/protocol'
import { useEffect, useRef } from 'preact/hooks'
import { ownIdTag } from '#platform/own-identity.ts'
import { markRead } from './mark-read.ts'

// While one scrolls, the mark moves this often at most.
const pauseMs = 400

/** Moves the mark of a conversation to the newest message that was on the screen. */
export function useMarkRead(conversation: Conversation, messages: readonly Action[]) {
  const latest = useRef({ conversation, messages })
  latest.current = { conversation, messages }
  const marked = useRef(new Set<string>())
  const timer = useRef<ReturnType<typeof setTimeout>>()
  useEffect(() => () => clearTimeout(timer.current), [])
  const mark = (seenId: string) => {
    const { conversation, messages } = latest.current
    const seen = messages.slice(0, messages.findIndex((one) => one.actionId === seenId) + 1)
    const newest = seen.findLast(({ issuerTag }) => issuerTag !== ownIdTag())
    if (!newest || marked.current.has(newest.actionId)) return
    marked.current.add(newest.actionId)
    markRead(conversation, newest).catch(() => marked.current.delete(newest.actionId))
  }
  return (seenId: string) => {
    if (latest.current.conversation.unread === 0) return
    clearTimeout(timer.current)
    timer.current = setTimeout(() => mark(seenId), pauseMs)
  }
}

import { randomBytes } from 'node:crypto'
import type { RtdbAnswers } from '@kith/protocol'
import { EventLoopTurns } from '#lib/event-loop-turns.ts'
import type { RequestId } from './request.ts'

/** The text of an answer. What has no value is left out: clients of this family throw away a message with `null` where a
 * member may be missing. */
export function answerText<Type extends keyof RtdbAnswers>(
  type: Type,
  id: RequestId,
  members: RtdbAnswers[Type],
): string {
  return JSON.stringify({ type, id, ...members })
}

/** The text of a list of documents or rows, made in turns of the event loop. */
export async function listText(items: readonly object[]): Promise<string> {
  const turns = new EventLoopTurns()
  const texts: string[] = []
  for (const item of items) {
    texts.push(JSON.stringify(item))
    if (turns.isOver) await turns.giveWay()
  }
  return `[${texts.join(',')}]`
}

/** The text of an answer with such a list as `data`. */
export function listAnswerText(type: 'queryResult', id: RequestId, list: string): string {
  return `${JSON.stringify({ type, id }).slice(0, -1)},"data":${list}}`
}

/** The text of an event of a subscription; `event` is JSON text that all who are told it share. */
export function changeText(subscriptionId: string, event: string): string {
  return `{"type":"change","id":"${randomId()}","subscriptionId":"${subscriptionId}","event":${event}}`
}

export function presenceText(event: string): string {
  return `{"type":"presenceChange","id":"${randomId()}","event":${event}}`
}

const letters = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const idLength = 24
// Random bytes are drawn for many ids at once.
const pool = { bytes: Buffer.alloc(0), at: 0 }

/** 24 characters `[0-9A-Za-z]`. */
export function randomId(): string {
  let id = ''
  while (id.length < idLength) {
    if (pool.at >= pool.bytes.length) {
      pool.bytes = randomBytes(4096)
      pool.at = 0
    }
    const byte = pool.bytes[pool.at] ?? 0
    pool.at += 1
    // The largest multiple of 62 below 256: each letter is as likely as the others.
    if (byte < 248) id += letters[byte % letters.length]
  }
  return id
}

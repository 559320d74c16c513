import { timingSafeEqual } from 'node:crypto'
import type { Vault } from '#infra/keys/index.ts'

export interface SentMessage {
  /** The process that has sent it. */
  readonly node: string
  readonly message: string
}

/** Messages of the processes that have the master key: whoever else writes to the Redis between them can say nothing in their
 * name, on no channel. What was said once can be said again there, and left out. */
export interface AuthenticMessages {
  write(channel: string, sent: SentMessage): string
  /** Undefined for what none of them has written to this channel. */
  read(channel: string, text: string): SentMessage | undefined
}

const form = /^([A-Za-z0-9_-]{43}) ([A-Za-z0-9_-]{1,40}) ([\s\S]*)$/

export function openAuthenticMessages({ mac }: Pick<Vault, 'mac'>): AuthenticMessages {
  const macOf = (channel: string, { node, message }: SentMessage) =>
    mac('bus', `${channel.length} ${channel} ${node} ${message}`)
  return {
    write(channel, sent) {
      return `${Buffer.from(macOf(channel, sent)).toString('base64url')} ${sent.node} ${sent.message}`
    },
    read(channel, text) {
      const [, shown, node, message] = form.exec(text) ?? []
      if (shown === undefined || node === undefined || message === undefined) return undefined
      const sent = { node, message }
      return timingSafeEqual(Buffer.from(shown, 'base64url'), macOf(channel, sent)) ? sent : undefined
    },
  }
}

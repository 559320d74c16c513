import type { Action } from '@kith/protocol'

/** The words of a message, as they were written; empty where another program sent none. */
export function textOf({ content }: Pick<Action, 'content'>): string {
  return typeof content?.text === 'string' ? content.text : ''
}

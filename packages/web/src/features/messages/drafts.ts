import { listDevice, readDevice, removeDevice, writeDevice } from '#platform/device-storage.ts'

interface KeptDraft {
  readonly text: string
  readonly changedAt: number
}

const prefix = 'message:'
// The oldest goes where somebody has begun more.
const keptAtMost = 50

/** What was written in a conversation and not sent, also after the app was closed. */
export function draftOf(conversationId: string): string {
  return read(prefix + conversationId)?.text ?? ''
}

export function keepDraft(conversationId: string, text: string): void {
  const name = prefix + conversationId
  if (text === '') {
    removeDevice(name)
    return
  }
  const isNew = read(name) === undefined
  writeDevice(name, { text, changedAt: Date.now() } satisfies KeptDraft)
  if (isNew) dropOldest()
}

function dropOldest(): void {
  const names = listDevice(prefix)
  if (names.length <= keptAtMost) return
  const age = (name: string) => read(name)?.changedAt ?? 0
  const [oldest] = names.toSorted((one, other) => age(one) - age(other))
  if (oldest !== undefined) removeDevice(oldest)
}

function read(name: string): KeptDraft | undefined {
  const kept = readDevice(name) as Partial<KeptDraft> | undefined
  return typeof kept?.text === 'string' ? { text: kept.text, changedAt: Number(kept.changedAt) } : undefined
}

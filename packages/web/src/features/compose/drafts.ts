import { randomId } from '#lib/random-id.ts'
import { createStore, type Store } from '#lib/store.ts'
import { listDevice, readDevice, removeDevice, writeDevice } from '#platform/device-storage.ts'
import { type Draft, isEmpty } from './draft.ts'

export const draftPrefix = 'draft:'
// More than anybody goes on with: of those that the server has too, the oldest are no longer kept here.
const keptAtMost = 50

// Bound: the drafts that this tab has opened.
const opened = new Map<string, Store<Draft | undefined>>()

/** A draft of this browser, as it is now. Undefined once it was shared or thrown away. */
export function draftStore(id: string): Store<Draft | undefined> {
  const known = opened.get(id) ?? createStore(readDraft(id))
  opened.set(id, known)
  return known
}

function readDraft(id: string): Draft | undefined {
  return readDevice(draftPrefix + id) as Draft | undefined
}

/** A draft with nothing in it, which is kept once there is something. */
export function newDraft(members: Pick<Draft, 'place' | 'audience'> & Partial<Draft>): Draft {
  const draft: Draft = {
    id: randomId(),
    text: '',
    files: [],
    publishAt: '',
    expiresAt: '',
    changedAt: Date.now(),
    ...members,
  }
  draftStore(draft.id).set(draft)
  if (!isEmpty(draft) || draft.quotes !== undefined) writeDevice(draftPrefix + draft.id, draft)
  return draft
}

/** Changes a draft, here and in the browser's storage, at once; false where the storage did not take it. */
export function changeDraft(id: string, change: Partial<Draft>): boolean {
  const store = draftStore(id)
  const present = store.get()
  if (!present) return true
  const next = { ...present, ...change }
  store.set(next)
  if (isEmpty(next) && next.actionId === undefined && next.quotes === undefined) {
    removeDevice(draftPrefix + id)
    return true
  }
  return writeDevice(draftPrefix + id, next)
}

/** Forgets a draft here. */
export function dropDraft(id: string): void {
  draftStore(id).set(undefined)
  removeDevice(draftPrefix + id)
}

/** The drafts of this browser, the one that was changed last first. */
export function listDrafts(): readonly Draft[] {
  const drafts = listDevice(draftPrefix)
    .flatMap((name) => readDraft(name.slice(draftPrefix.length)) ?? [])
    .sort((one, other) => other.changedAt - one.changedAt)
  const isSafe = (draft: Draft) => draft.saved !== undefined && draft.leavesAt === undefined
  for (const old of drafts.slice(keptAtMost).filter(isSafe)) removeDevice(draftPrefix + old.id)
  return drafts
}

// Bound: the drafts that this tab works on.
const held = new Map<string, () => void>()

/** Takes a draft for this tab, until it is released: two tabs do not write or send the same one. False where another
 * tab has it. Browsers have no locks over plain http: there it is always true. */
export async function holdDraft(id: string): Promise<boolean> {
  if (held.has(id) || navigator.locks === undefined) return true
  const got = Promise.withResolvers<boolean>()
  void navigator.locks.request(`kith-${draftPrefix}${id}`, { ifAvailable: true }, (lock) => {
    got.resolve(lock !== null)
    return lock && new Promise<void>((release) => held.set(id, release))
  })
  return await got.promise
}

export function releaseDraft(id: string): void {
  held.get(id)?.()
  held.delete(id)
}

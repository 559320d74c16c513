import { KithError } from '@kith/client'
import { createAction, deleteAction, updateAction } from '@kith/protocol'
import { randomId } from '#lib/random-id.ts'
import { createStore } from '#lib/store.ts'
import { client } from '#platform/client.ts'
import { connection } from '#platform/connection.ts'
import { isPassing, queries } from '#platform/query.ts'
import { bodyOf, type Draft, type DraftBody, fixedOf, isEmpty, lengthOf, maxTextLength } from './draft.ts'
import { changeDraft, draftStore } from './drafts.ts'

/** The keys of the lists of drafts. */
export const draftsKey = ['drafts'] as const

/** What the server did with a draft last, by its id; absent: nothing yet. Bound: the drafts that this tab has changed. */
export const saveFaults = createStore<ReadonlyMap<string, unknown>>(new Map())

const pauseMs = 1_500
// Bound: the drafts that this tab has changed.
const timers = new Map<string, ReturnType<typeof setTimeout>>()
const running = new Map<string, Promise<string>>()

/** Saves a draft on the server once its author pauses. */
export function saveLater(id: string): void {
  clearTimeout(timers.get(id))
  timers.set(
    id,
    setTimeout(() => {
      const draft = draftStore(id).get()
      if (!draft || isEmpty(draft) || lengthOf(draft.text) > maxTextLength) return
      void saveNow(id).then(
        () => noteFault(id, undefined),
        (error) => noteFault(id, error),
      )
    }, pauseMs),
  )
}

// What could not be saved is tried again when the server is heard.
connection.subscribe(() => {
  if (connection.get() !== 'open') return
  for (const [id, fault] of saveFaults.get()) if (fault !== undefined) saveLater(id)
})

function noteFault(id: string, fault: unknown): void {
  saveFaults.set(new Map([...saveFaults.get(), [id, fault] as const]))
}

/** Saves a draft on the server as it is now, after what is under way; the id of its action. */
export function saveNow(id: string): Promise<string> {
  clearTimeout(timers.get(id))
  const before = running.get(id) ?? Promise.resolve('')
  const saving = before.catch(() => '').then(() => save(id))
  running.set(id, saving)
  return saving
}

/** Whether the server has a draft as it is now. */
export function isSaved(draft: Draft): boolean {
  return draft.saved === JSON.stringify(bodyOf(draft))
}

async function save(id: string): Promise<string> {
  while (true) {
    const draft = draftStore(id).get()
    if (!draft) throw new Error('the draft is gone')
    if (draft.actionId !== undefined && isSaved(draft)) return draft.actionId
    await takeStep(draft)
  }
}

async function takeStep(draft: Draft): Promise<void> {
  const { id, actionId, saved } = draft
  const body = bodyOf(draft)
  const isChangeable = saved !== undefined && fixedOf(JSON.parse(saved) as DraftBody) === fixedOf(body)
  if (actionId === undefined || !isChangeable) return await create(draft, body)
  const { content, attachments, visibility } = body
  try {
    await client.call(updateAction, {
      params: { actionId: actionId as never },
      body: { content: content ?? {}, attachments: attachments ?? [], visibility: visibility ?? null },
    })
    changeDraft(id, { saved: JSON.stringify(body) })
  } catch (error) {
    // It was deleted or shared elsewhere, and is still written here: a draft of its own from now on.
    if (!(error instanceof KithError) || !['E-ACTION-NOTFOUND', 'E-STATE'].includes(error.code)) throw error
    changeDraft(id, { actionId: undefined, saved: undefined })
  }
}

async function create({ id, actionId: former, creating }: Draft, body: DraftBody): Promise<void> {
  const asked = creating ?? { key: randomId(), body }
  changeDraft(id, { creating: asked })
  try {
    const { data } = await client.call(createAction, {
      body: { ...asked.body, draft: true, idempotencyKey: asked.key },
    })
    // It was thrown away meanwhile.
    if (!draftStore(id).get()) return await forgetOnServer(data.actionId)
    changeDraft(id, { actionId: data.actionId, saved: JSON.stringify(asked.body), creating: undefined })
  } catch (error) {
    if (!isPassing(error)) changeDraft(id, { creating: undefined })
    throw error
  }
  if (former !== undefined) await forgetOnServer(former)
  void queries.invalidateQueries({ queryKey: draftsKey })
}

/** Deletes a draft on the server; one that is gone is as good. */
export async function forgetOnServer(actionId: string): Promise<void> {
  try {
    await client.call(deleteAction, { params: { actionId: actionId as never } })
  } catch (error) {
    if (!(error instanceof KithError) || error.code !== 'E-ACTION-NOTFOUND') throw error
  }
}

import { KithError } from '@kith/client'
import { getAction, publishAction } from '@kith/protocol'
import { navigate } from 'wouter-preact/use-browser-location'
import { textsIn } from '#lib/texts.ts'
import { client, partingClient } from '#platform/client.ts'
import { connection } from '#platform/connection.ts'
import { language } from '#platform/language.ts'
import { closeNotice, notify } from '#platform/notices.ts'
import { isPassing, queries } from '#platform/query.ts'
import { session } from '#platform/session.ts'
import { uiTexts } from '#ui/ui-texts.ts'
import { composeTexts } from './compose-texts.ts'
import { type Draft, momentOf } from './draft.ts'
import { changeDraft, draftStore, dropDraft, holdDraft, listDrafts, releaseDraft } from './drafts.ts'
import { draftsKey, forgetOnServer, isSaved, saveNow } from './save-draft.ts'

/** For so long a post can be taken back. */
export const undoMs = 10_000
// Between attempts, when nothing tells that it may work again.
const againMs = 30_000
// What was shared longer ago is a draft again: its author may no longer mean it.
const staleMs = 24 * 60 * 60_000

interface Leaving {
  notice: number
  timer: ReturnType<typeof setTimeout> | undefined
  isUnderWay: boolean
}

// Bound: the posts that were shared and have not left.
const leaving = new Map<string, Leaving>()

const t = () => textsIn(composeTexts, language.get())

/** Shares a draft: after ten seconds in which it can be taken back; with a time, the server keeps it until then. */
export function share(id: string): void {
  const draft = draftStore(id).get()
  if (!draft) return
  const leavesAt = Date.now() + (draft.publishAt === '' ? undoMs : 0)
  changeDraft(id, { leavesAt, isParked: false })
  const entry: Leaving = { notice: 0, timer: undefined, isUnderWay: false }
  leaving.set(id, entry)
  // In the meantime the server gets its last words, so that only the word to publish is missing.
  saveNow(id).catch(() => undefined)
  if (draft.publishAt !== '') return void publish(id)
  entry.notice = notify(t().leaves, { untilMs: leavesAt, action: undoOf(id) })
  entry.timer = setTimeout(() => void publish(id), undoMs)
}

function undoOf(id: string) {
  return { label: textsIn(uiTexts, language.get()).undo, run: () => takeBack(id) }
}

/** Makes what was shared a draft again, and opens it. */
function takeBack(id: string): void {
  endLeaving(id)
  changeDraft(id, { leavesAt: undefined })
  open(id)
}

function open(id: string): void {
  navigate(`/new?draft=${id}`)
}

function endLeaving(id: string): void {
  const entry = leaving.get(id)
  if (!entry) return
  clearTimeout(entry.timer)
  closeNotice(entry.notice)
  leaving.delete(id)
}

async function publish(id: string): Promise<void> {
  const entry = leaving.get(id)
  const draft = draftStore(id).get()
  if (!entry || !draft || entry.isUnderWay) return
  entry.isUnderWay = true
  clearTimeout(entry.timer)
  closeNotice(entry.notice)
  try {
    const actionId = await saveNow(id)
    await publishOnce(actionId, draft)
    afterPublishing(id, draft, actionId)
  } catch (error) {
    entry.isUnderWay = false
    if (isPassing(error) || isSignedOut(error)) waitFor(id, entry, error)
    else bringBack(id, error)
  }
}

async function publishOnce(actionId: string, { publishAt }: Draft): Promise<void> {
  const params = { actionId: actionId as never }
  try {
    const body = publishAt === '' ? {} : { publishAt: momentOf(publishAt) as never }
    await client.call(publishAction, { params, body })
  } catch (error) {
    if (!(error instanceof KithError) || error.code !== 'E-STATE') throw error
    // An attempt whose answer was lost has published it.
    const { data } = await client.call(getAction, { params })
    if (data.status === 'R') throw error
  }
}

function isSignedOut(error: unknown): boolean {
  return error instanceof KithError && error.code === 'E-AUTH-UNAUTH'
}

function afterPublishing(id: string, { publishAt, replaces }: Draft, actionId: string): void {
  endLeaving(id)
  dropDraft(id)
  releaseDraft(id)
  void queries.invalidateQueries({ queryKey: ['feed'] })
  void queries.invalidateQueries({ queryKey: draftsKey })
  const [text, label, path] =
    publishAt === ''
      ? [t().shared, t().show, `/posts/${encodeURIComponent(actionId)}`]
      : [t().scheduled, t().drafts, '/new/drafts']
  notify(text, { action: { label, run: () => navigate(path) } })
  if (replaces === undefined) return
  forgetOnServer(replaces).catch(() => notify(t().oldStays, { kind: 'failed' }))
}

function waitFor(id: string, entry: Leaving, error: unknown): void {
  entry.notice = notify(t().waits, { kind: 'failed', action: undoOf(id) })
  const afterMs = error instanceof KithError ? (error.retryAfterSecs ?? 0) * 1000 : 0
  entry.timer = setTimeout(() => void publish(id), afterMs || againMs)
}

/** What the server refuses comes back to its author, who has every word of it. */
function bringBack(id: string, error: unknown): void {
  endLeaving(id)
  changeDraft(id, { leavesAt: undefined })
  const code = error instanceof KithError ? error.code : ''
  const ui = textsIn(uiTexts, language.get())
  const known = ui[code as keyof typeof ui]
  const why = typeof known === 'string' ? known : ui.other(code)
  notify(t().refused(why), { kind: 'failed', action: { label: t().open, run: () => open(id) } })
}

/** Tries what waits, now that it may work. */
function tryAll(): void {
  for (const [id, { isUnderWay }] of leaving) {
    const leavesAt = draftStore(id).get()?.leavesAt ?? 0
    if (!isUnderWay && leavesAt <= Date.now()) void publish(id)
  }
}

/** When the page goes while a post can still be taken back, it leaves at once. Should that fail, the app sends it when it
 * is opened next. */
function sendAtOnce(): void {
  for (const [id, entry] of leaving) {
    const draft = draftStore(id).get()
    if (entry.isUnderWay || draft?.actionId === undefined || !isSaved(draft)) continue
    const params = { actionId: draft.actionId }
    const body = draft.publishAt === '' ? {} : { publishAt: momentOf(draft.publishAt) }
    void partingClient.call(publishAction, { params, body }).catch(() => undefined)
  }
}

/** Goes on with what was shared before the page was loaded. */
export async function resume(): Promise<void> {
  for (const { id, leavesAt } of listDrafts()) {
    if (leavesAt === undefined || leaving.has(id) || !(await holdDraft(id))) continue
    if (Date.now() - leavesAt > staleMs) {
      changeDraft(id, { leavesAt: undefined })
      notify(t().stale, { kind: 'failed', action: { label: t().open, run: () => open(id) } })
    } else if (!(await hasLeft(id))) share(id)
  }
}

async function hasLeft(id: string): Promise<boolean> {
  const draft = draftStore(id).get()
  if (draft?.actionId === undefined) return false
  try {
    const { data } = await client.call(getAction, { params: { actionId: draft.actionId as never } })
    if (data.status === 'R') return false
    afterPublishing(id, draft, draft.actionId)
    return true
  } catch {
    return false
  }
}

window.addEventListener('pagehide', sendAtOnce)
window.addEventListener('online', tryAll)
connection.subscribe(() => connection.get() === 'open' && tryAll())
session.subscribe(() => session.get().state === 'signed-in' && tryAll())

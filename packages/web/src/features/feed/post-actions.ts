import { randomId } from '@kith/client'
import {
  type Action,
  createAction,
  deleteAction,
  type ReactionKind,
  updateRelationship,
} from '@kith/protocol'
import { client } from '#platform/client.ts'
import { notify } from '#platform/notices.ts'
import { sendLater } from '#platform/outbox.ts'
import { hearAnew, queries } from '#platform/query.ts'
import { changePost, dropRows, reloadLists } from './feed-cache.ts'
import { bookmarksKey, bookmarksQuery, repostsKey, repostsQuery } from './feed-query.ts'

/** Says in words why something did not work. */
export type Explain = (error: unknown) => string

/** Does it at once, and takes it back with a notice where the server does not. */
async function optimistically(
  undo: () => void,
  explain: Explain,
  send: () => Promise<unknown>,
): Promise<boolean> {
  try {
    await send()
    return true
  } catch (error) {
    undo()
    notify(explain(error), { kind: 'failed' })
    return false
  }
}

/** Reacts to an action, or takes the reaction back. */
export function reactTo({ actionId, stat }: Action, type: ReactionKind | null): void {
  const more = (type === null ? 0 : 1) - (stat.ownReaction ? 1 : 0)
  const reactions = Math.max(0, (stat.reactions ?? 0) + more)
  changePost(actionId, (old) => ({ ...old, stat: { ...old.stat, ownReaction: type, reactions } }))
  void sendLater({ kind: 'reaction', payload: { actionId, type }, replaces: `reaction ${actionId}` })
}

/** Bookmarks an action or takes that back. What was bookmarked before may be on its way still. */
export async function keepBookmark(actionId: string, isWanted: boolean, explain: Explain): Promise<void> {
  const kept = await knownOf(queries.ensureQueryData(bookmarksQuery), explain)
  if (kept && kept.includes(actionId) !== isWanted) setBookmark(actionId, isWanted)
}

async function knownOf<Data>(asked: Promise<Data>, explain: Explain): Promise<Data | undefined> {
  try {
    return await asked
  } catch (error) {
    notify(explain(error), { kind: 'failed' })
    return undefined
  }
}

function setBookmark(actionId: string, isWanted: boolean): void {
  const others = (queries.getQueryData<readonly string[]>(bookmarksKey) ?? []).filter((id) => id !== actionId)
  queries.setQueryData(bookmarksKey, isWanted ? [actionId, ...others] : others)
  void sendLater({ kind: 'bookmark', payload: { actionId, isWanted }, replaces: `bookmark ${actionId}` })
}

/** Shows a public post of somebody else to one's own followers, or takes that back. */
export async function keepRepost(post: Action, isWanted: boolean, explain: Explain): Promise<void> {
  const known = await knownOf(queries.ensureQueryData(repostsQuery), explain)
  if (!known) return
  const ownId = known[post.actionId]
  if (ownId !== 'sending' && (ownId === undefined) === isWanted) await setRepost(post, ownId, explain)
}

async function setRepost(post: Action, ownId: string | undefined, explain: Explain): Promise<void> {
  const { actionId: subject } = post
  const put = (id: string | undefined) =>
    queries.setQueryData<Readonly<Record<string, string | undefined>>>(repostsKey, (old) => ({
      ...old,
      [subject]: id,
    }))
  const count = (by: number) =>
    changePost(subject, (old) => ({
      ...old,
      stat: { ...old.stat, shares: Math.max(0, (old.stat.shares ?? 0) + by) },
    }))
  const by = ownId === undefined ? 1 : -1
  put(ownId === undefined ? 'sending' : undefined)
  count(by)
  const undo = () => {
    put(ownId)
    count(-by)
  }
  await optimistically(undo, explain, async () => {
    if (ownId !== undefined) return client.call(deleteAction, { params: { actionId: ownId } })
    const body = { type: 'REPOST', subject, idempotencyKey: randomId() } as const
    put((await client.call(createAction, { body })).data.actionId)
  })
}

export function deletePost(actionId: string, explain: Explain): Promise<boolean> {
  const putBack = dropRows((row) => row.actionId === actionId || row.subject === actionId)
  return optimistically(putBack, explain, async () => {
    await client.call(deleteAction, { params: { actionId } })
    changePost(actionId, (post) => ({ ...post, status: 'D' }))
  })
}

/** Hears no more of somebody, or hears of them again. */
export function changeHearing(
  idTag: string,
  relationship: 'mute' | 'unmute' | 'block',
  explain: Explain,
): Promise<boolean> {
  const isLess = relationship !== 'unmute'
  const drop = () => dropRows((row) => row.issuerTag === idTag)
  const putBack = isLess ? drop() : () => undefined
  return optimistically(putBack, explain, async () => {
    await client.call(updateRelationship, { params: { idTag }, body: { relationship } })
    // What was asked for before the server knew has brought them back.
    if (isLess) drop()
    else reloadLists()
    void hearAnew()
  })
}

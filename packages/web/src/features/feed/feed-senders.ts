import {
  type Action,
  addToCollection,
  createAction,
  type ReactionKind,
  removeFromCollection,
  setReaction,
} from '@kith/protocol'
import { navigate } from 'wouter-preact/use-browser-location'
import { textsIn } from '#lib/texts.ts'
import { client } from '#platform/client.ts'
import { language } from '#platform/language.ts'
import { notify } from '#platform/notices.ts'
import { noteArrival, outbox, type Sender, type Waiting } from '#platform/outbox.ts'
import { queries } from '#platform/query.ts'
import { explainNow } from '#ui/explain.ts'
import { draftOf, keepDraft } from './comment-drafts.ts'
import { changePost, takePost } from './feed-cache.ts'
import { bookmarksKey, postKey, postQuery } from './feed-query.ts'
import { threadTexts } from './thread-texts.ts'
import type { NewComment } from './waiting-comments.ts'

export const commentSender: Sender<NewComment> = {
  async send({ rootId, parentId, text }, { key }) {
    const body = { type: 'CMNT', parentId, content: { text }, idempotencyKey: key } as const
    const before = commentsOf(rootId)
    const { data } = await client.call(createAction, { body })
    noteArrival(key, data.actionId)
    const comment = await queries.fetchQuery(postQuery(data.actionId))
    takePost({ ...comment, rootId: comment.rootId ?? rootId })
    // What the bus has said in the meantime counts it already.
    if (commentsOf(rootId) === before) changePost(rootId, counted)
  },
  refused({ rootId, parentId, text }, error) {
    const written = draftOf(parentId).get()
    keepDraft(parentId, written === '' ? text : `${text}\n\n${written}`)
    const t = textsIn(threadTexts, language.get())
    const run = () => navigate(`/posts/${encodeURIComponent(rootId)}`)
    notify(`${t.notSent} ${explainNow(error)}`, { kind: 'failed', action: { label: t.toPost, run } })
    return false
  },
}

function commentsOf(rootId: string): number | undefined {
  return queries.getQueryData(postQuery(rootId).queryKey)?.stat.comments
}

function counted(post: Action): Action {
  return { ...post, stat: { ...post.stat, comments: (post.stat.comments ?? 0) + 1 } }
}

interface NewReaction {
  readonly actionId: string
  readonly type: ReactionKind | null
}

export const reactionSender: Sender<NewReaction> = {
  async send({ actionId, type }, { key }) {
    const { data } = await client.call(setReaction, { params: { actionId }, body: { type } })
    // Its author has changed it again, and sees that.
    const isOther = ({ kind, payload, ...one }: Waiting) =>
      kind === 'reaction' && (payload as NewReaction).actionId === actionId && one.key !== key
    if (outbox.get().some(isOther)) return
    changePost(actionId, (post) => ({ ...post, stat: { ...post.stat, ...data.stat } }))
  },
  refused({ actionId }, error) {
    void queries.invalidateQueries({ queryKey: postKey(actionId) })
    notify(explainNow(error), { kind: 'failed' })
    return false
  },
}

interface NewBookmark {
  readonly actionId: string
  readonly isWanted: boolean
}

export const bookmarkSender: Sender<NewBookmark> = {
  async send({ actionId, isWanted }) {
    const params = { collType: 'BKMK', itemId: actionId } as const
    await client.call(isWanted ? addToCollection : removeFromCollection, { params })
  },
  refused(_, error) {
    void queries.invalidateQueries({ queryKey: bookmarksKey })
    notify(explainNow(error), { kind: 'failed' })
    return false
  },
}

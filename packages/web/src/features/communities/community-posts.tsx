import { type Action, type CommunityRole, deleteAction } from '@kith/protocol'
import { useInfiniteQuery, useMutation } from '@tanstack/preact-query'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { FeedCard, PostExcerpt } from '#features/people/screens.ts'
import { client } from '#platform/client.ts'
import { notify } from '#platform/notices.ts'
import { ownIdTag } from '#platform/own-identity.ts'
import { queries } from '#platform/query.ts'
import { Button } from '#ui/button.tsx'
import { Dialog } from '#ui/dialog.tsx'
import { Empty } from '#ui/empty.tsx'
import { useExplain } from '#ui/problem.tsx'
import { QueryState } from '#ui/query-state.tsx'
import { Refresh } from '#ui/refresh.tsx'
import { TextArea } from '#ui/text-area.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { communitiesKey, postsKey } from './communities-keys.ts'
import { isAtLeast, postsTo } from './communities-query.ts'
import { communitiesTexts } from './communities-texts.ts'
import { manageTexts } from './manage-texts.ts'

interface CommunityPostsProps {
  readonly idTag: string
  /** Whether its posts come home; otherwise its server is asked what a stranger may see. */
  readonly isReceived: boolean
  readonly role: CommunityRole | undefined
}

/** What was written to a community, newest first. */
export function CommunityPosts({ idTag, isReceived, role }: CommunityPostsProps) {
  const t = useTexts(communitiesTexts)
  const place = isReceived ? 'here' : 'there'
  const list = useInfiniteQuery(postsTo(idTag, place))
  const posts = list.data?.pages.flatMap((page) => page.posts) ?? []
  const keys = [postsKey(idTag), [...communitiesKey, idTag]]
  return (
    <>
      <QueryState query={list} heights={[160, 160]} whoMay={t.whoMay} />
      {list.data && posts.length === 0 && (
        <Empty icon="square-pen" title={isReceived ? t.noPosts : t.noPostsOutside}>
          {isReceived && t.noPostsWhy}
        </Empty>
      )}
      {isReceived ? (
        <Refresh of={keys} isLive />
      ) : (
        <div class="row">
          {posts.length > 0 && <p class="soft">{t.outside}</p>}
          <Refresh of={keys} />
        </div>
      )}
      {posts.length > 0 && (
        <Feed label={t.posts} isBusy={list.isFetchingNextPage} isModerated={isAtLeast(role, 'moderator')}>
          {posts.map((post, index) =>
            isReceived ? (
              <Moderated key={post.actionId} post={post} position={index + 1} idTag={idTag} role={role} />
            ) : (
              <PostExcerpt key={post.actionId} post={post} position={index + 1} />
            ),
          )}
        </Feed>
      )}
      {list.hasNextPage && (
        <Button isBusy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          {t.olderPosts}
        </Button>
      )}
    </>
  )
}

interface FeedProps {
  readonly label: string
  readonly isBusy: boolean
  readonly isModerated: boolean
  readonly children: ComponentChildren
}

/** A feed has articles alone: with a moderator's buttons between them it is a section. */
function Feed({ label, isBusy, isModerated, children }: FeedProps) {
  if (isModerated)
    return (
      <section aria-label={label} aria-busy={isBusy} class="stack">
        {children}
      </section>
    )
  return (
    <div role="feed" aria-label={label} aria-busy={isBusy} class="stack">
      {children}
    </div>
  )
}

interface ModeratedProps {
  readonly post: Action
  readonly position: number
  readonly idTag: string
  readonly role: CommunityRole | undefined
}

/** A post with what a moderator may do about it. */
function Moderated({ post, position, idTag, role }: ModeratedProps) {
  const t = useTexts(communitiesTexts)
  const [isAsking, setAsking] = useState(false)
  const isOwn = ownIdTag() === post.issuerTag
  const remove = useRemove(idTag)
  return (
    <>
      <FeedCard post={post} position={position} of={-1} />
      {isAtLeast(role, 'moderator') && !isOwn && (
        <div>
          <Button kind="quiet" icon="trash-2" onClick={() => setAsking(true)}>
            {t.remove}
          </Button>
        </div>
      )}
      {isAsking && (
        <RemoveDialog
          onClose={() => setAsking(false)}
          onRemove={(reason) => {
            setAsking(false)
            remove.mutate({ post, reason })
          }}
        />
      )}
    </>
  )
}

interface RemoveDialogProps {
  readonly onClose: () => void
  readonly onRemove: (reason: string) => void
}

function RemoveDialog({ onClose, onRemove }: RemoveDialogProps) {
  const t = useTexts(communitiesTexts)
  const manage = useTexts(manageTexts)
  const [reason, setReason] = useState('')
  return (
    <Dialog title={t.removePost} onClose={onClose}>
      <div class="stack">
        <p>{t.removePostWhy}</p>
        <TextArea
          label={manage.reason}
          value={reason}
          maxLength={500}
          dir="auto"
          onInput={(event) => setReason(event.currentTarget.value)}
        />
        <div class="row">
          <Button kind="danger" onClick={() => onRemove(reason.trim())}>
            {t.remove}
          </Button>
          <Button kind="quiet" onClick={onClose}>
            {t.cancel}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}

interface Removal {
  readonly post: Action
  readonly reason: string
}

function useRemove(idTag: string) {
  const t = useTexts(communitiesTexts)
  const explain = useExplain()
  const { queryKey } = postsTo(idTag, 'here')
  return useMutation({
    mutationFn: ({ post: { actionId }, reason }: Removal) =>
      client.at(idTag).call(deleteAction, { params: { actionId }, query: reason === '' ? {} : { reason } }),
    onMutate: async ({ post: { actionId } }) => {
      await queries.cancelQueries({ queryKey })
      const before = queries.getQueryData(queryKey)
      queries.setQueryData(
        queryKey,
        (known) =>
          known && {
            ...known,
            pages: known.pages.map((page) => ({
              ...page,
              posts: page.posts.filter((post) => post.actionId !== actionId),
            })),
          },
      )
      return { before }
    },
    onError: (error, _, context) => {
      queries.setQueryData(queryKey, context?.before)
      notify(`${t.removeFailed} ${explain(error)}`, { kind: 'failed' })
    },
    onSuccess: () => notify(t.removed),
  })
}

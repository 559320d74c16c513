import type { Action } from '@kith/protocol'
import { useState } from 'preact/hooks'
import { navigate } from 'wouter-preact/use-browser-location'
import { shownName } from '#lib/identity.ts'
import { copyText } from '#platform/copy-text.ts'
import { notify } from '#platform/notices.ts'
import { Menu, type MenuItem } from '#ui/menu.tsx'
import { useExplain } from '#ui/problem.tsx'
import { uiTexts } from '#ui/ui-texts.ts'
import { useTexts } from '#ui/use-texts.ts'
import { ConfirmDialog } from './confirm-dialog.tsx'
import { DeliveriesDialog } from './deliveries-dialog.tsx'
import { ownIdTag } from './feed-query.ts'
import { changeHearing, deletePost } from './post-actions.ts'
import { postPath } from './post-head.tsx'
import { postTexts } from './post-texts.ts'

interface PostMenuProps {
  readonly post: Action
  /** Of the thread that it stands in: its issuer may remove what others say in it. */
  readonly rootIssuer?: string | undefined
  readonly onDeleted?: (() => void) | undefined
}

type Asked = 'delete' | 'block' | 'deliveries'

/** What is done with a post less often. */
export function PostMenu({ post, rootIssuer, onDeleted }: PostMenuProps) {
  const t = useTexts(postTexts)
  const ui = useTexts(uiTexts)
  const explain = useExplain()
  const [asked, setAsked] = useState<Asked>()
  const name = shownName(post.issuer.name, post.issuerTag)
  const remove = async () => {
    setAsked(undefined)
    if (!(await deletePost(post.actionId, explain))) return
    notify(t.deleted)
    onDeleted?.()
  }
  const block = async () => {
    setAsked(undefined)
    if (await changeHearing(post.issuerTag, 'block', explain)) notify(t.blocked(name))
  }
  const isOwn = post.issuerTag === ownIdTag()
  const why = isOwn ? t.deleteWhy : t.removeWhy
  return (
    <>
      <Menu
        label={t.more(name)}
        items={() => itemsOf({ post, rootIssuer, name, ask: setAsked, t, ui, explain })}
      />
      {asked === 'delete' && (
        <ConfirmDialog
          title={t.deleteTitle}
          yes={t.delete}
          onYes={() => void remove()}
          onNo={() => setAsked(undefined)}
        >
          {why}
        </ConfirmDialog>
      )}
      {asked === 'block' && (
        <ConfirmDialog
          title={t.block(name)}
          yes={t.block(name)}
          onYes={() => void block()}
          onNo={() => setAsked(undefined)}
        >
          {t.blockWhy(name)}
        </ConfirmDialog>
      )}
      {asked === 'deliveries' && <DeliveriesDialog post={post} onClose={() => setAsked(undefined)} />}
    </>
  )
}

interface ItemsOf {
  readonly post: Action
  readonly rootIssuer: string | undefined
  readonly name: string
  readonly ask: (asked: Asked) => void
  readonly t: ReturnType<typeof useTexts<(typeof postTexts)['en']>>
  readonly ui: ReturnType<typeof useTexts<(typeof uiTexts)['en']>>
  readonly explain: (error: unknown) => string
}

function itemsOf({ post, rootIssuer, name, ask, t, ui, explain }: ItemsOf): MenuItem[] {
  const { issuerTag } = post
  const mute = async () => {
    if (!(await changeHearing(issuerTag, 'mute', explain))) return
    const undo = { label: ui.undo, run: () => void changeHearing(issuerTag, 'unmute', explain) }
    notify(t.muted(name), { action: undo })
  }
  const copyItem: MenuItem = {
    label: t.copy,
    icon: 'link',
    run: () => void copyText(location.origin + postPath(post.actionId), t),
    worksOffline: true,
  }
  const deleteItem: MenuItem = { label: t.delete, icon: 'trash-2', run: () => ask('delete'), isDanger: true }
  const compose = (what: 'again' | 'quote') => navigate(`/new?${what}=${encodeURIComponent(post.actionId)}`)
  const isPost = post.type === 'POST' || post.type === 'SHRE'
  const quote: MenuItem = { label: t.quote, icon: 'message-circle', run: () => compose('quote') }
  const again: MenuItem = { label: t.writeAgain, icon: 'square-pen', run: () => compose('again') }
  const quotes = post.visibility === 'P' && isPost ? [quote] : []
  if (issuerTag === ownIdTag())
    return [
      copyItem,
      ...quotes,
      { label: t.deliveries, icon: 'send', run: () => ask('deliveries') },
      ...(isPost && post.status !== 'D' ? [again] : []),
      deleteItem,
    ]
  return [
    copyItem,
    ...quotes,
    { label: t.mute(name), icon: 'volume-x', run: () => void mute() },
    { label: t.block(name), icon: 'user-x', run: () => ask('block'), isDanger: true },
    ...(rootIssuer === ownIdTag() ? [deleteItem] : []),
  ]
}

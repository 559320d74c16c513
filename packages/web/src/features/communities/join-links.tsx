import { endJoinLink, type JoinLink, listJoinLinks } from '@kith/protocol'
import { queryOptions, useQuery } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { formatMoment } from '#lib/format.ts'
import { pageAddress } from '#lib/page-address.ts'
import { client } from '#platform/client.ts'
import { copyText } from '#platform/copy-text.ts'
import { notify } from '#platform/notices.ts'
import { queries } from '#platform/query.ts'
import { Button } from '#ui/button.tsx'
import { codeOf } from '#ui/explain.ts'
import { LoadedQrCode } from '#ui/loaded-qr-code.tsx'
import { useExplain } from '#ui/problem.tsx'
import { QueryState } from '#ui/query-state.tsx'
import { useLocale, useTexts } from '#ui/use-texts.ts'
import { communitiesKey } from './communities-keys.ts'
import { communitiesTexts } from './communities-texts.ts'
import styles from './join-links.module.css'
import { joiningTexts } from './joining-texts.ts'
import { NewJoinLink } from './new-join-link.tsx'

function linksInto(idTag: string) {
  return queryOptions({
    queryKey: [...communitiesKey, idTag, 'links'],
    queryFn: async ({ signal }) => (await client.at(idTag).call(listJoinLinks, {}, { signal })).data,
    // What others use up is not told to those who made it.
    staleTime: 0,
  })
}

/** The links that let people join a community, and another one. Servers that know none offer the community's page. */
export function JoinLinks({ idTag }: { readonly idTag: string }) {
  const t = useTexts(joiningTexts)
  const links = useQuery({ ...linksInto(idTag), retry: false })
  if (links.error && codeOf(links.error) === 'E-NOTFOUND') return <PageOnly idTag={idTag} />
  const refresh = () => queries.invalidateQueries({ queryKey: linksInto(idTag).queryKey })
  return (
    <section class="card stack">
      <h2>{t.links}</h2>
      <p class="soft">{t.linksWhy}</p>
      <QueryState query={links} heights={[73]} what={t.linksFailed} />
      {links.data && (
        <ul class={styles.links} aria-label={t.links}>
          {links.data.map((link) => (
            <Line key={link.linkId} idTag={idTag} link={link} onEnded={refresh} />
          ))}
        </ul>
      )}
      {links.data && <NewJoinLink idTag={idTag} onMade={refresh} />}
    </section>
  )
}

interface LineProps {
  readonly idTag: string
  readonly link: JoinLink
  readonly onEnded: () => Promise<void>
}

function Line({ idTag, link, onEnded }: LineProps) {
  const t = useTexts(joiningTexts)
  const locale = useLocale()
  const explain = useExplain()
  const [isCodeShown, setCodeShown] = useState(false)
  const name = link.description ?? t.unnamed
  // Behind `#`, so that no log has it.
  const url = `${pageAddress(idTag, location)}join#${link.code}`
  const end = async () => {
    try {
      await client.at(idTag).call(endJoinLink, { params: { linkId: link.linkId } })
      notify(t.ended)
    } catch (error) {
      notify(`${t.endFailed} ${explain(error)}`, { kind: 'failed' })
    }
    await onEnded()
  }
  const about = [
    link.count === null ? t.leftAll : t.left(link.count),
    link.expiresAt === undefined ? undefined : t.until(formatMoment(new Date(link.expiresAt * 1000), locale)),
  ]
  return (
    <li class="stack">
      <div>
        <strong dir="auto">{name}</strong>
        <div class="soft">{about.filter(Boolean).join(' · ')}</div>
      </div>
      {isCodeShown && <LoadedQrCode text={url} label={t.qrOf(name)} />}
      <div class="row">
        <CopyButton text={url} />
        <Button icon="qr-code" aria-pressed={isCodeShown} onClick={() => setCodeShown(!isCodeShown)}>
          {t.showQr}
        </Button>
        <Button kind="danger" aria-label={t.endLink(name)} onClick={() => void end()}>
          {t.end}
        </Button>
      </div>
    </li>
  )
}

function CopyButton({ text }: { readonly text: string }) {
  const t = useTexts(joiningTexts)
  return (
    <Button icon="copy" onClick={() => void copyText(text, t)}>
      {t.copy}
    </Button>
  )
}

function PageOnly({ idTag }: { readonly idTag: string }) {
  const t = useTexts(communitiesTexts)
  const link = pageAddress(idTag, location)
  return (
    <section class="card stack">
      <h2>{t.inviteLink}</h2>
      <p class="soft">{t.inviteLinkWhy}</p>
      <p>
        <bdi>{link}</bdi>
      </p>
      <div>
        <CopyButton text={link} />
      </div>
    </section>
  )
}

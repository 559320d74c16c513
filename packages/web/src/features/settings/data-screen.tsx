import { KithError } from '@kith/client'
import { type AccountExportView, getAccountExport, getUsage, startAccountExport } from '@kith/protocol'
import { useQuery } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { formatBytes, formatMoment } from '#lib/format.ts'
import { client } from '#platform/client.ts'
import { saveByLink } from '#platform/media.ts'
import { notify } from '#platform/notices.ts'
import { Button } from '#ui/button.tsx'
import { useExplain } from '#ui/problem.tsx'
import { QueryState } from '#ui/query-state.tsx'
import { useLocale, useTexts } from '#ui/use-texts.ts'
import { dataTexts } from './data-texts.ts'
import { useProof } from './proof.tsx'
import styles from './section.module.css'
import { Section } from './section.tsx'
import { settingsTexts } from './settings-texts.ts'

const askEveryMs = 2_000

/** Everything that belongs to the account, as one file. */
export function DataScreen() {
  const titles = useTexts(settingsTexts)
  const t = useTexts(dataTexts)
  const query = useQuery({
    queryKey: ['settings', 'export'],
    queryFn: async ({ signal }) => (await client.call(getAccountExport, {}, { signal })).data,
    // It goes on elsewhere too.
    staleTime: 0,
    refetchInterval: ({ state }) => (isUnderWay(state.data) ? askEveryMs : false),
  })
  const { data, refetch } = query
  return (
    <Section title={titles.data}>
      <section class="card stack" aria-labelledby="archive">
        <h2 id="archive">{t.archive}</h2>
        <p>{t.what}</p>
        <Contents />
        <p>{t.careful}</p>
        <p class="soft">{t.whole}</p>
        <QueryState query={query} heights={[48]} />
        {data && <Download present={data} onBegun={refetch} />}
      </section>
    </Section>
  )
}

function Contents() {
  const t = useTexts(dataTexts)
  const lists = [
    { title: t.inside, entries: [t.posts, t.profile, t.files, t.keys] },
    { title: t.outside, entries: [t.secrets, t.links, t.communities] },
  ]
  return lists.map(({ title, entries }) => (
    <div key={title}>
      <h3>{title}</h3>
      <ul class={styles.points}>
        {entries.map((entry) => (
          <li key={entry}>{entry}</li>
        ))}
      </ul>
    </div>
  ))
}

interface DownloadProps {
  readonly present: AccountExportView
  readonly onBegun: () => unknown
}

function Download({ present, onBegun }: DownloadProps) {
  const t = useTexts(dataTexts)
  const explain = useExplain()
  const { run, dialog } = useProof()
  const [isAsking, setAsking] = useState(false)
  const [askedAt, setAskedAt] = useState<number>()
  const begin = async () => {
    setAsking(true)
    let asked: number | undefined
    try {
      await run(async () => {
        const { ticket, expiresAt } = (await client.call(startAccountExport)).data
        asked = expiresAt - ticketSecs
        saveByLink(`/api/export/archive?${new URLSearchParams({ ticket })}`)
      })
    } catch (error) {
      notify(whyNot(error, t) ?? explain(error), { kind: 'failed' })
    }
    await onBegun()
    // Not before it is known what became of it.
    if (asked !== undefined) setAskedAt(asked)
    setAsking(false)
  }
  return (
    <>
      <Size />
      <Progress present={present} askedAt={askedAt} />
      {!isUnderWay(present) && (
        <div>
          <Button kind="primary" icon="download" isBusy={isAsking} onClick={() => void begin()}>
            {present.status === 'none' ? t.begin : t.again}
          </Button>
        </div>
      )}
      {dialog}
    </>
  )
}

// For so long a ticket is good (docs/protocol/credentials.md, The export of an account).
const ticketSecs = 60

function isUnderWay(present: AccountExportView | undefined): boolean {
  return present?.status === 'waiting' || present?.status === 'running'
}

function whyNot(error: unknown, t: { readonly underWay: string; readonly tooOften: string }) {
  if (!(error instanceof KithError)) return undefined
  if (error.code === 'E-STATE') return t.underWay
  const isOfDay = error.code === 'E-RATELIMIT' && (error.retryAfterSecs ?? 0) > ticketSecs
  return isOfDay ? t.tooOften : undefined
}

function useUsedBytes(): number | undefined {
  const { data } = useQuery({
    queryKey: ['settings', 'usage'],
    queryFn: async ({ signal }) => (await client.call(getUsage, {}, { signal })).data,
    staleTime: 0,
  })
  return data?.usedBytes
}

function Size() {
  const t = useTexts(dataTexts)
  const locale = useLocale()
  const usedBytes = useUsedBytes()
  if (usedBytes === undefined) return null
  return <p>{usedBytes === 0 ? t.sizeSmall : t.size(formatBytes(usedBytes, locale))}</p>
}

interface ProgressProps {
  readonly present: AccountExportView
  /** When this page has asked for one: Unix seconds of the server. */
  readonly askedAt: number | undefined
}

/** How far the last download is, or how it ended. */
function Progress({ present, askedAt }: ProgressProps) {
  const t = useTexts(dataTexts)
  const locale = useLocale()
  const usedBytes = useUsedBytes()
  const { status, sentBytes = 0, startedAt = 0, endedAt = 0, reason } = present
  const sent = formatBytes(sentBytes, locale)
  const isNotBegun = askedAt !== undefined && !isUnderWay(present) && startedAt < askedAt
  return (
    <div role="status" class="stack">
      {isNotBegun && <p>{t.notBegun}</p>}
      {!isNotBegun && status === 'waiting' && <p>{t.waiting}</p>}
      {status === 'running' && <p>{sentBytes === 0 ? t.waiting : t.running(sent)}</p>}
      {status === 'running' && usedBytes !== undefined && usedBytes > 0 && (
        <progress
          class={styles.usage}
          aria-label={t.progress}
          value={Math.min(sentBytes, usedBytes)}
          max={usedBytes}
        />
      )}
      {!isNotBegun && status === 'complete' && (
        <p>{t.complete(formatMoment(new Date(endedAt * 1000), locale), sent)}</p>
      )}
      {!isNotBegun && status === 'broken' && (
        <p>
          <strong>{t.broken}</strong> {t[reason ?? 'failed']}
        </p>
      )}
    </div>
  )
}

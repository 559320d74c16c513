import { getUsage, type Usage } from '@kith/protocol'
import { useQuery } from '@tanstack/preact-query'
import { useEffect, useState } from 'preact/hooks'
import { loadRoomTakers } from '#features/files/index.ts'
import { formatBytes } from '#lib/format.ts'
import { client } from '#platform/client.ts'
import { queries } from '#platform/query.ts'
import { Link } from '#ui/link.tsx'
import { QueryState } from '#ui/query-state.tsx'
import { useLocale, useTexts } from '#ui/use-texts.ts'
import styles from './section.module.css'
import { Section } from './section.tsx'
import { settingsTexts } from './settings-texts.ts'
import { StorageKinds } from './storage-kinds.tsx'
import { storageTexts } from './storage-texts.ts'

const usageKey = ['settings', 'usage']

/** How much room the files take, of which kind, and what could be deleted. */
export function StorageScreen() {
  const titles = useTexts(settingsTexts)
  const query = useQuery({
    queryKey: usageKey,
    queryFn: async ({ signal }) => (await client.call(getUsage, {}, { signal })).data,
    // Files come and go on other screens.
    staleTime: 0,
  })
  const { data } = query
  return (
    <Section title={titles.storage}>
      <QueryState query={query} heights={[160]} />
      {data && <Used usage={data} />}
      {data && data.files > 0 && <Deletable />}
    </Section>
  )
}

function Used({ usage }: { readonly usage: Usage }) {
  const t = useTexts(storageTexts)
  const locale = useLocale()
  const { usedBytes, reservedBytes, limitBytes, files, maxFileBytes } = usage
  const told = (bytes: number) => formatBytes(bytes, locale)
  const used = limitBytes === 0 ? told(usedBytes) : t.of(told(usedBytes), told(limitBytes))
  return (
    <div class="card stack">
      <h2 id="used">{used}</h2>
      {limitBytes > 0 && (
        <progress
          class={styles.usage}
          aria-labelledby="used"
          value={Math.min(usedBytes, limitBytes)}
          max={limitBytes}
        />
      )}
      {usedBytes > 0 && <StorageKinds queryKey={[...usageKey, 'kinds']} />}
      <p>{t.files(files)}</p>
      {reservedBytes > 0 && <p>{t.reserved(told(reservedBytes))}</p>}
      <p class="soft">{t.largest(told(maxFileBytes))}</p>
      <p>
        <Link href="/files">{t.toFiles}</Link>
      </p>
    </div>
  )
}

type RoomTakers = Awaited<ReturnType<typeof loadRoomTakers>>

/** Its code comes from the screens of files. */
function Deletable() {
  const t = useTexts(storageTexts)
  const [Takers, setTakers] = useState<RoomTakers>()
  useEffect(() => void loadRoomTakers().then((takers) => setTakers(() => takers)), [])
  return (
    <section class="card stack" aria-labelledby="deletable">
      <h2 id="deletable">{t.deletable}</h2>
      <p class="soft">{t.trash}</p>
      {Takers && <Takers onFreed={() => void queries.invalidateQueries({ queryKey: usageKey })} />}
    </section>
  )
}

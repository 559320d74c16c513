import { getUsageByKind } from '@kith/protocol'
import { useQuery } from '@tanstack/preact-query'
import { formatBytes } from '#lib/format.ts'
import { client } from '#platform/client.ts'
import { Icon } from '#ui/icon.tsx'
import type { IconName } from '#ui/icon-names.ts'
import { QueryState } from '#ui/query-state.tsx'
import { useLocale, useTexts } from '#ui/use-texts.ts'
import styles from './storage-kinds.module.css'
import { storageTexts } from './storage-texts.ts'

const icons: Readonly<Record<string, IconName>> = {
  pictures: 'image',
  films: 'film',
  sounds: 'music',
  documents: 'file-text',
  databases: 'list',
  previews: 'grid-2x2',
}

/** What is used of each kind, the most first; what nothing is stored of is left out. */
export function StorageKinds({ queryKey }: { readonly queryKey: readonly string[] }) {
  const t = useTexts(storageTexts)
  const locale = useLocale()
  const query = useQuery({
    queryKey,
    queryFn: async ({ signal }) => (await client.call(getUsageByKind, {}, { signal })).data,
    staleTime: 0,
  })
  const { data } = query
  const kinds = data?.kinds.filter(({ bytes }) => bytes > 0).sort((a, b) => b.bytes - a.bytes)
  return (
    <>
      <QueryState query={query} heights={[48, 48]} />
      {data && kinds && (
        <ul class={styles.kinds} aria-label={t.byKind}>
          {kinds.map(({ kind, bytes }) => (
            <li key={kind}>
              <Icon name={icons[kind] ?? 'file'} />
              <span>{t[kind] ?? t.others}</span>
              <span>{formatBytes(bytes, locale)}</span>
              <progress aria-hidden="true" value={bytes} max={data.usedBytes} />
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

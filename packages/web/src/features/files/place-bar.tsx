import type { FileView } from '@kith/protocol'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { useLocation } from 'wouter-preact'
import { Icon } from '#ui/icon.tsx'
import type { IconName } from '#ui/icon-names.ts'
import { Link } from '#ui/link.tsx'
import { useTexts } from '#ui/use-texts.ts'
import styles from './files-screen.module.css'
import { filesTexts } from './files-texts.ts'

const places = [
  { path: '/files', icon: 'folder', name: 'files' },
  { path: '/files/photos', icon: 'image', name: 'photos' },
  { path: '/files/received', icon: 'download', name: 'received' },
  { path: '/files/recent', icon: 'clock', name: 'recent' },
  { path: '/files/starred', icon: 'star', name: 'starred' },
  { path: '/files/pinned', icon: 'pin', name: 'pinned' },
  { path: '/files/trash', icon: 'trash-2', name: 'trash' },
] as const satisfies readonly { path: string; icon: IconName; name: string }[]

/** Where files can be looked for. */
export function PlaceBar() {
  const t = useTexts(filesTexts)
  const [here] = useLocation()
  const bar = useRef<HTMLElement>(null)
  // Not all of them have room on a phone.
  useLayoutEffect(() => {
    bar.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [here])
  return (
    <nav ref={bar} class={styles.places} aria-label={t.places}>
      {places.map(({ path, icon, name }) => (
        <Link key={path} href={path} aria-current={here === path ? 'page' : undefined}>
          <Icon name={icon} />
          {t[name]}
        </Link>
      ))}
    </nav>
  )
}

/** The folders above one, the topmost first, and itself. */
export function Breadcrumbs({ path }: { readonly path: readonly FileView[] }) {
  const t = useTexts(filesTexts)
  return (
    <nav class={styles.path} aria-label={t.path}>
      <ol>
        <li>
          <Link href="/files">{t.files}</Link>
        </li>
        {path.map(({ fileId, fileName }, index) => (
          <li key={fileId}>
            <Link
              href={`/files/${encodeURIComponent(fileId)}`}
              aria-current={index === path.length - 1 ? 'page' : undefined}
            >
              <bdi>{fileName}</bdi>
            </Link>
          </li>
        ))}
      </ol>
    </nav>
  )
}

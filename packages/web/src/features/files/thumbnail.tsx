import type { FileView } from '@kith/protocol'
import { useState } from 'preact/hooks'
import { thumbhashColor } from '#lib/thumbhash-color.ts'
import { mediaAccess, mediaAddress } from '#platform/media.ts'
import { Icon } from '#ui/icon.tsx'
import { useStore } from '#ui/use-store.ts'
import { iconOf, isPicture, kindOf } from './file-kind.ts'
import styles from './thumbnail.module.css'

interface ThumbnailProps {
  readonly file: FileView
  readonly variant: 'tn' | 'sd'
}

/** A small likeness of a file, for the eye alone: its name stands beside it. */
export function Thumbnail({ file, variant }: ThumbnailProps) {
  const access = useStore(mediaAccess)
  // A newer bearer is no reason to load a picture again.
  const [used] = useState({ access })
  used.access ??= access
  const [isBroken, setBroken] = useState(false)
  const kind = kindOf(file)
  return (
    <span
      class={[styles.thumbnail, kind === 'folder' && styles.folder].filter(Boolean).join(' ')}
      style={{ backgroundColor: file.thumbhash && thumbhashColor(file.thumbhash) }}
    >
      {isPicture(file) && used.access !== undefined && !isBroken ? (
        <img
          src={mediaAddress(file.fileId, used.access, { variant })}
          alt=""
          loading="lazy"
          decoding="async"
          draggable={false}
          onError={() => setBroken(true)}
        />
      ) : (
        <Icon name={iconOf[kind]} />
      )}
    </span>
  )
}

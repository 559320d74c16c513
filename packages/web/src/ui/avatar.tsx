import { useState } from 'preact/hooks'
import { shownName } from '#lib/identity.ts'
import { intlOf } from '#lib/intl.ts'
import { mediaAccess, profilePictureAddress } from '#platform/media.ts'
import styles from './avatar.module.css'
import { useStore } from './use-store.ts'

interface AvatarProps {
  readonly idTag: string
  readonly name: string
  /** Whether the identity has a picture; without one the initial stands for it. */
  readonly hasPicture?: boolean
  /** In px. */
  readonly size?: number
}

/** The picture of an identity, from our own server. Beside its name it says nothing more. */
export function Avatar({ idTag, name, hasPicture = false, size = 40 }: AvatarProps) {
  const [isBroken, setBroken] = useState(false)
  const access = useStore(mediaAccess)
  const style = { width: size, height: size, fontSize: size / 2.2 }
  if (!hasPicture || isBroken || access === undefined)
    return (
      <span class={styles.avatar} style={style} aria-hidden="true">
        {initialOf(shownName(name, idTag))}
      </span>
    )
  return (
    <img
      class={styles.avatar}
      style={style}
      // The thumbnail has 150 pixels, the picture itself 400.
      src={profilePictureAddress(idTag, access, 'image', size > 75 ? {} : { variant: 'tn' })}
      alt=""
      width={size}
      height={size}
      loading="lazy"
      onError={() => setBroken(true)}
    />
  )
}

function initialOf(name: string): string | undefined {
  // A segmenter takes long to make.
  const isSimple = /^[!-~](?!\P{ASCII})/u.test(name)
  const initial = isSimple ? name[0] : [...intlOf(Intl.Segmenter, 'en').segment(name)][0]?.segment
  return initial?.toUpperCase()
}

import { useState } from 'preact/hooks'
import { mediaAccess, profilePictureAddress } from '#platform/media.ts'
import { useStore } from '#ui/use-store.ts'
import styles from './profile-header.module.css'

interface CoverProps {
  readonly idTag: string
  readonly hasPicture: boolean
}

/** The wide picture above a profile; its place is there without one. */
export function Cover({ idTag, hasPicture }: CoverProps) {
  const access = useStore(mediaAccess)
  const [isBroken, setBroken] = useState(false)
  return (
    <div class={styles.cover}>
      {hasPicture && !isBroken && access !== undefined && (
        <img src={profilePictureAddress(idTag, access, 'cover')} alt="" onError={() => setBroken(true)} />
      )}
    </div>
  )
}

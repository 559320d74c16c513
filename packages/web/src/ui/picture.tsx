import { useEffect, useState } from 'preact/hooks'
import { thumbhashColor } from '#lib/thumbhash-color.ts'
import { type MediaAccess, mediaAccess, mediaAddress } from '#platform/media.ts'
import { Icon } from './icon.tsx'
import styles from './picture.module.css'
import { useStore } from './use-store.ts'

interface PictureProps {
  readonly fileId: string
  readonly alt: string
  readonly width?: number | undefined
  readonly height?: number | undefined
  readonly thumbhash?: string | undefined
  readonly variant?: 'tn' | 'sd' | 'hd'
  /** Fills the box of its parent instead of making one. */
  readonly isFilling?: boolean
  /** Shown whole in its box instead of cut to fill it. */
  readonly isWhole?: boolean
}

/** A picture of a file in a box that is there before its bytes are, and stays if they never come. */
export function Picture(props: PictureProps) {
  const { alt, thumbhash, isFilling = false, isWhole = false } = props
  const { address, onError, hasFailed } = useAddress(props)
  const style = {
    backgroundColor: isWhole ? 'transparent' : thumbhash && thumbhashColor(thumbhash),
    ...(isFilling ? {} : { aspectRatio: String(ratioOf(props)) }),
  }
  const classes = [styles.box, isFilling && styles.filling, isWhole && styles.whole]
  return (
    <span class={classes.filter(Boolean).join(' ')} style={style}>
      {hasFailed ? (
        <span class={styles.failed}>
          <Icon name="image" />
          {alt}
        </span>
      ) : (
        address && <img src={address} alt={alt} loading="lazy" decoding="async" onError={onError} />
      )}
    </span>
  )
}

/** Width by height; what is extreme is shown in a box that a screen can hold. */
function ratioOf({ width = 4, height = 3, isWhole = false }: PictureProps): number {
  const ratio = width > 0 && height > 0 ? width / height : 4 / 3
  return isWhole ? Math.max(0.1, Math.min(10, ratio)) : Math.max(0.75, Math.min(2.5, ratio))
}

/** The address with the access of the moment; with a newer one only where the bytes did not come with it. */
function useAddress({ fileId, variant = 'sd' }: PictureProps) {
  const access = useStore(mediaAccess)
  const [used, setUsed] = useState(access)
  const [failedWith, setFailedWith] = useState<MediaAccess>()
  useEffect(() => {
    if (access && (used === undefined || (failedWith === used && access !== used))) setUsed(access)
  }, [access, used, failedWith])
  return {
    address: used === undefined ? undefined : mediaAddress(fileId, used, { variant }),
    hasFailed: used !== undefined && failedWith === used,
    onError: () => setFailedWith(used),
  }
}

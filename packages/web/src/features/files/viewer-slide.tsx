import type { FileView } from '@kith/protocol'
import { useState } from 'preact/hooks'
import { mediaAccess, mediaAddress } from '#platform/media.ts'
import { Button } from '#ui/button.tsx'
import { Icon } from '#ui/icon.tsx'
import { useStore } from '#ui/use-store.ts'
import { useTexts } from '#ui/use-texts.ts'
import { download } from './file-actions.ts'
import { iconOf, isPicture, kindOf } from './file-kind.ts'
import { filesTexts } from './files-texts.ts'
import styles from './viewer.module.css'

/** One file on the whole window: a picture, a film, a sound, or what stands for other files. */
export function ViewerSlide({ file }: { readonly file: FileView }) {
  const t = useTexts(filesTexts)
  const access = useStore(mediaAccess)
  const [used] = useState({ access })
  used.access ??= access
  const [isBroken, setBroken] = useState(false)
  const kind = kindOf(file)
  const onError = () => setBroken(true)
  const address = used.access === undefined ? undefined : mediaAddress(file.fileId, used.access)
  if (!isBroken && isPicture(file))
    return (
      <img
        src={used.access && mediaAddress(file.fileId, used.access, { variant: 'hd' })}
        alt={file.fileName}
        width={file.width}
        height={file.height}
        onError={onError}
      />
    )
  if (!isBroken && kind === 'film')
    // biome-ignore lint/a11y/useMediaCaption: the film is as someone uploaded it
    return <video src={address} controls preload="metadata" aria-label={file.fileName} onError={onError} />
  if (!isBroken && kind === 'sound')
    // biome-ignore lint/a11y/useMediaCaption: the sound is as someone uploaded it
    return <audio src={address} controls preload="metadata" aria-label={file.fileName} onError={onError} />
  return (
    <div class={styles.plain}>
      <Icon name={iconOf[kind]} />
      <p>{file.x?.processingError ? t.unreadable(file.x.processingError) : t.noPreview}</p>
      <Button needsServer icon="download" onClick={() => void download([file])}>
        {t.download}
      </Button>
    </div>
  )
}

import { useRef } from 'preact/hooks'
import { Button } from '#ui/button.tsx'
import type { IconName } from '#ui/icon-names.ts'
import { useTexts } from '#ui/use-texts.ts'
import { composeTexts } from './compose-texts.ts'
import type { Draft, DraftFile } from './draft.ts'
import { FromFiles } from './from-files.tsx'

interface FileButtonsProps {
  readonly draft: Pick<Draft, 'files'>
  readonly onFiles: (files: readonly File[]) => void
  /** Called with files that are on the server. */
  readonly onOwn: (files: readonly DraftFile[]) => void
}

/** Adds pictures or files by the browser's own dialog, which has the camera on phones, or from those on the server. */
export function FileButtons({ draft, onFiles, onOwn }: FileButtonsProps) {
  const t = useTexts(composeTexts)
  return (
    <div class="row">
      <FileButton icon="image-plus" accept="image/*" onFiles={onFiles}>
        {t.addPictures}
      </FileButton>
      <FileButton icon="paperclip" onFiles={onFiles}>
        {t.addFiles}
      </FileButton>
      <FromFiles files={draft.files} onAdd={onOwn} />
    </div>
  )
}

interface FileButtonProps extends Pick<FileButtonsProps, 'onFiles'> {
  readonly icon: IconName
  readonly accept?: string
  readonly children: string
}

function FileButton({ icon, accept, children, onFiles }: FileButtonProps) {
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <Button icon={icon} onClick={() => input.current?.click()}>
        {children}
      </Button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        accept={accept}
        onChange={(event) => {
          const { currentTarget } = event
          onFiles([...(currentTarget.files ?? [])])
          // The same file can be chosen once more.
          currentTarget.value = ''
        }}
      />
    </>
  )
}

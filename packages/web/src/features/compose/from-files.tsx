import { useState } from 'preact/hooks'
import { Button } from '#ui/button.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { composeTexts } from './compose-texts.ts'
import type { DraftFile } from './draft.ts'
import type { FilePicker } from './file-picker.tsx'

interface FromFilesProps {
  readonly files: readonly DraftFile[]
  readonly onAdd: (files: readonly DraftFile[]) => void
}

/** Adds files that are on the server; its dialog is loaded when it is asked for. */
export function FromFiles({ files, onAdd }: FromFilesProps) {
  const t = useTexts(composeTexts)
  const [Picker, setPicker] = useState<typeof FilePicker>()
  const [isOpen, setOpen] = useState(false)
  const open = async () => {
    const { FilePicker: loaded } = await import('./file-picker.tsx')
    setPicker(() => loaded)
    setOpen(true)
  }
  return (
    <>
      <Button icon="folder-open" onClick={() => void open()}>
        {t.fromFiles}
      </Button>
      {isOpen && Picker && (
        <Picker
          taken={new Set(files.flatMap(({ fileId }) => fileId ?? []))}
          onClose={() => setOpen(false)}
          onAdd={(added) => {
            setOpen(false)
            onAdd(added)
          }}
        />
      )}
    </>
  )
}

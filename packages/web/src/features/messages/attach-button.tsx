import { useRef } from 'preact/hooks'
import { IconButton } from '#ui/button.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { messagesTexts } from './messages-texts.ts'

/** Asks for pictures and files of the device. */
export function AttachButton({ onChoose }: { readonly onChoose: (files: FileList | null) => void }) {
  const t = useTexts(messagesTexts)
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <IconButton needsServer icon="paperclip" label={t.attach} onClick={() => input.current?.click()} />
      <input
        ref={input}
        type="file"
        multiple
        hidden
        onChange={(event) => {
          onChoose(event.currentTarget.files)
          event.currentTarget.value = ''
        }}
      />
    </>
  )
}

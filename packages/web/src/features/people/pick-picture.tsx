import { useRef } from 'preact/hooks'
import { Button } from '#ui/button.tsx'

interface PickPictureProps {
  readonly label: string
  readonly onPick: (file: File) => void
}

// What the server makes pictures of.
const accepted = 'image/jpeg,image/png,image/webp,image/gif,image/avif'

/** A button that lets a picture be chosen. */
export function PickPicture({ label, onPick }: PickPictureProps) {
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <Button needsServer icon="image-plus" onClick={() => input.current?.click()}>
        {label}
      </Button>
      <input
        ref={input}
        type="file"
        accept={accepted}
        hidden
        onChange={({ currentTarget }) => {
          const [file] = currentTarget.files ?? []
          // So that the same file can be chosen once more.
          currentTarget.value = ''
          if (file) onPick(file)
        }}
      />
    </>
  )
}

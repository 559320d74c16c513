import { copyText } from '#platform/copy-text.ts'
import { IconButton } from '#ui/button.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { peopleTexts } from './people-texts.ts'

/** Puts the whole identity into the clipboard, to be passed on. */
export function CopyIdentity({ idTag }: { readonly idTag: string }) {
  const t = useTexts(peopleTexts)
  return <IconButton icon="copy" label={t.copyIdentity} onClick={() => void copyText(idTag, t)} />
}

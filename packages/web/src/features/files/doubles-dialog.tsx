import { Button } from '#ui/button.tsx'
import { Dialog } from '#ui/dialog.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { filesTexts } from './files-texts.ts'
import type { Uploading } from './use-uploading.tsx'

const namedAtMost = 8

/** Names what is there already, and asks what becomes of it. */
export function DoublesDialog({ asked, answer }: Pick<Uploading, 'asked' | 'answer'>) {
  const t = useTexts(filesTexts)
  if (!asked) return null
  const { doubles, areReplaceable } = asked
  return (
    <Dialog title={t.doubles} onClose={() => answer(undefined)}>
      <div class="stack">
        <p>{t.doublesWhy(doubles.length)}</p>
        <ul>
          {doubles.slice(0, namedAtMost).map((name) => (
            <li key={name} dir="auto">
              {name}
            </li>
          ))}
          {doubles.length > namedAtMost && <li>{t.doublesMore(doubles.length - namedAtMost)}</li>}
        </ul>
        {areReplaceable && <p class="soft">{t.replaceWhy}</p>}
        <div class="row">
          <Button kind="primary" onClick={() => answer('number')}>
            {t.keepBoth}
          </Button>
          {areReplaceable && <Button onClick={() => answer('replace')}>{t.replace}</Button>}
          <Button onClick={() => answer('skip')}>{t.skip}</Button>
        </div>
      </div>
    </Dialog>
  )
}

import type { FileView } from '@kith/protocol'
import { useState } from 'preact/hooks'
import { ownIdTag } from '#platform/own-identity.ts'
import { SelectField } from '#ui/select-field.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { changeVisibility } from './file-actions.ts'
import { filesTexts } from './files-texts.ts'
import { useRun } from './use-run.ts'

/** Who may see a file besides those with whom it is shared; its owner alone changes that. */
export function VisibilityChoice({ file }: { readonly file: FileView }) {
  const t = useTexts(filesTexts)
  const run = useRun()
  const [visibility, setVisibility] = useState(file.visibility)
  if (file.owner.idTag !== ownIdTag() || file.x?.home !== undefined) return null
  const choose = async (value: 'nobody' | NonNullable<FileView['visibility']>) => {
    const wanted = value === 'nobody' ? null : value
    setVisibility(wanted)
    if (!(await run(() => changeVisibility([file], wanted)))) setVisibility(visibility)
  }
  return (
    <>
      <SelectField
        label={t.who}
        value={visibility ?? 'nobody'}
        options={[
          ['nobody', t.whoNobody],
          ['C', t.whoC],
          ['F', t.whoF],
          ['V', t.whoV],
          ['P', t.whoP],
        ]}
        onValue={(value) => void choose(value)}
      />
      {file.fileTp === 'FLDR' && visibility !== null && <p class="soft">{t.whoFolder}</p>}
    </>
  )
}

import { createReference, type FileView } from '@kith/protocol'
import { useState } from 'preact/hooks'
import type { EnteredTerms, LinkTerms } from '#lib/link-terms.ts'
import { client } from '#platform/client.ts'
import { NewLinkForm } from '#ui/new-link-form.tsx'
import { SelectField } from '#ui/select-field.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { refreshSharing } from './sharing-query.ts'
import { sharingTexts } from './sharing-texts.ts'

const start: EnteredTerms = { description: '', end: 'inMonth', uses: '' }

/** Asks what a new link to a file gives, and makes it. */
export function NewLink({ file }: { readonly file: FileView }) {
  const t = useTexts(sharingTexts)
  const [accessLevel, setAccessLevel] = useState<'read' | 'write'>('read')
  const make = async (terms: LinkTerms) => {
    const body = { ...terms, type: 'share.file', resourceId: file.fileId, accessLevel } as const
    await client.call(createReference, { body })
    setAccessLevel('read')
    await refreshSharing()
  }
  return (
    <NewLinkForm t={t} start={start} usesAtMost={1_000_000_000} onMake={make}>
      <SelectField
        label={t.access}
        value={accessLevel}
        options={(['read', 'write'] as const).map((value) => [value, t[value]] as const)}
        onValue={setAccessLevel}
      />
    </NewLinkForm>
  )
}

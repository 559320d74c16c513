import { createJoinLink } from '@kith/protocol'
import type { EnteredTerms } from '#lib/link-terms.ts'
import { client } from '#platform/client.ts'
import { NewLinkForm } from '#ui/new-link-form.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { joiningTexts } from './joining-texts.ts'

const start: EnteredTerms = { description: '', end: 'inWeek', uses: '20' }

interface NewJoinLinkProps {
  readonly idTag: string
  readonly onMade: () => Promise<void>
}

/** Asks whom a new link into a community lets in, and makes it. */
export function NewJoinLink({ idTag, onMade }: NewJoinLinkProps) {
  const t = useTexts(joiningTexts)
  return (
    <NewLinkForm
      t={t}
      start={start}
      usesAtMost={1_000_000}
      onMake={async (terms) => {
        await client.at(idTag).call(createJoinLink, { body: terms })
        await onMade()
      }}
    />
  )
}

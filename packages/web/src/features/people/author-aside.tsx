import { useQuery } from '@tanstack/preact-query'
import { RichText } from '#ui/rich-text.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { profileOf } from './people-query.ts'
import { peopleTexts } from './people-texts.ts'
import styles from './person-line.module.css'
import { PersonLine } from './person-line.tsx'

/** Who wrote what stands in the middle. */
export function AuthorAside({ idTag }: { readonly idTag: string }) {
  const t = useTexts(peopleTexts)
  const { data: profile } = useQuery(profileOf(idTag))
  if (!profile) return null
  const bio = typeof profile.x?.bio === 'string' ? profile.x.bio.trim() : ''
  return (
    <section class="stack">
      <h2>{t.author}</h2>
      <ul class={styles.people}>
        <PersonLine person={profile} />
      </ul>
      {bio && <RichText text={bio} />}
    </section>
  )
}

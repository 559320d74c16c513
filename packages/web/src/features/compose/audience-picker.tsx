import { useId } from 'preact/hooks'
import { Icon } from '#ui/icon.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { useCommunities } from './audience.ts'
import styles from './compose.module.css'
import { composeTexts } from './compose-texts.ts'
import { type Draft, isWider, readAudience } from './draft.ts'

interface AudiencePickerProps {
  readonly draft: Draft
  readonly onChange: (audience: string) => void
}

/** Who can read the post; warns where a picture goes wider than it is. */
export function AudiencePicker({ draft, onChange }: AudiencePickerProps) {
  const t = useTexts(composeTexts)
  const id = useId()
  const { community } = readAudience(draft.audience)
  const communities = useCommunities().map(({ idTag, name }) => ({ idTag, name: name || idTag }))
  const isListed = community === undefined || communities.some(({ idTag }) => idTag === community)
  const all = isListed ? communities : [...communities, { idTag: community, name: community }]
  return (
    <div class={styles.field}>
      <label for={id}>{t.audience}</label>
      <select id={id} value={draft.audience} onChange={(event) => onChange(event.currentTarget.value)}>
        <optgroup label={t.people}>
          <option value="P">{t.everybody}</option>
          <option value="V">{t.verified}</option>
          <option value="F">{t.followers}</option>
          <option value="C">{t.connections}</option>
        </optgroup>
        {all.length > 0 && (
          <optgroup label={t.communities}>
            {all.flatMap(({ idTag, name }) => [
              <option key={`C:${idTag}`} value={`C:${idTag}`}>
                {t.membersOf(name)}
              </option>,
              <option key={`P:${idTag}`} value={`P:${idTag}`}>
                {t.everybodyIn(name)}
              </option>,
            ])}
          </optgroup>
        )}
      </select>
      <div role="status">
        {isWider(draft) && (
          <p class={styles.warning}>
            <Icon name="triangle-alert" />
            <span>{t.wider}</span>
          </p>
        )}
      </div>
    </div>
  )
}

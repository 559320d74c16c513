import type { CommunityRole } from '@kith/protocol'
import { SelectField } from '#ui/select-field.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { communitiesTexts } from './communities-texts.ts'

/** The roles that can be given, the highest first. */
export const offeredRoles = ['leader', 'moderator', 'contributor', 'supporter', 'follower'] as const
export type OfferedRole = (typeof offeredRoles)[number]

interface RoleSelectProps {
  readonly value: CommunityRole | undefined
  readonly onChange: (role: CommunityRole | undefined) => void
}

/** Narrows a list of members to one role. */
export function RoleSelect({ value, onChange }: RoleSelectProps) {
  const t = useTexts(communitiesTexts)
  return (
    <SelectField
      label={t.role}
      value={value ?? 'all'}
      options={[['all', t.allRoles], ...offeredRoles.map((role) => [role, t[role]] as const)]}
      onValue={(chosen) => onChange(chosen === 'all' ? undefined : chosen)}
    />
  )
}

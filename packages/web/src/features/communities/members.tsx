import { type CommunityRole, communityRoles, type Profile } from '@kith/protocol'
import { useInfiniteQuery } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { PersonParts, personLine, usePaused } from '#features/people/screens.ts'
import { shownName } from '#lib/identity.ts'
import { ownIdTag } from '#platform/own-identity.ts'
import { Button, IconButton } from '#ui/button.tsx'
import { Field } from '#ui/field.tsx'
import { QueryState } from '#ui/query-state.tsx'
import { useNextPage } from '#ui/use-next-page.ts'
import { useTexts } from '#ui/use-texts.ts'
import { WindowList } from '#ui/window-list.tsx'
import { isAtLeast, membersOf } from './communities-query.ts'
import { communitiesTexts } from './communities-texts.ts'
import { isBanned, ManageMember } from './manage-member.tsx'
import styles from './members.module.css'
import { RoleSelect } from './role-select.tsx'

interface MembersProps {
  readonly idTag: string
  /** One's own. */
  readonly role: CommunityRole | undefined
}

/** Who belongs to a community, by role and name, with what those who lead may do about them. */
export function Members({ idTag, role }: MembersProps) {
  const t = useTexts(communitiesTexts)
  const [wanted, setWanted] = useState<CommunityRole>()
  const [text, setText] = useState('')
  const [managed, setManaged] = useState<Profile>()
  const q = usePaused(text.trim())
  const list = useInfiniteQuery(
    membersOf(idTag, { ...(wanted ? { role: wanted } : {}), ...(q ? { q } : {}) }),
  )
  const onEnd = useNextPage(list)
  const members = list.data?.pages.flatMap((page) => page.members) ?? []
  return (
    <>
      <div class={styles.filter}>
        <Field
          label={t.searchMembers}
          type="search"
          value={text}
          maxLength={100}
          autocomplete="off"
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <RoleSelect value={wanted} onChange={setWanted} />
      </div>
      <QueryState query={list} heights={[73, 73]} whoMay={t.whoMay} />
      {list.data && members.length === 0 && <p class="soft">{t.noMembers}</p>}
      {members.length > 0 && (
        <MemberList
          members={members}
          isWhole={!list.hasNextPage}
          onEnd={onEnd}
          own={role}
          onManage={setManaged}
        />
      )}
      {managed && (
        <ManageMember
          idTag={idTag}
          member={managed}
          name={shownName(managed.name, managed.idTag)}
          role={role}
          onClose={() => setManaged(undefined)}
        />
      )}
      {list.hasNextPage && (
        <Button isBusy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          {t.more}
        </Button>
      )}
    </>
  )
}

/** Leaders decide about all, moderators about those below them. */
function mayManage(own: CommunityRole | undefined, { role }: Profile): boolean {
  if (isAtLeast(own, 'leader')) return true
  const isBelow = role === undefined || !isAtLeast(role as CommunityRole, 'moderator')
  return isAtLeast(own, 'moderator') && isBelow
}

interface MemberListProps {
  readonly members: readonly Profile[]
  readonly isWhole: boolean
  readonly onEnd: () => void
  readonly own: CommunityRole | undefined
  readonly onManage: (member: Profile) => void
}

function MemberList({ members, isWhole, onEnd, own, onManage }: MemberListProps) {
  const t = useTexts(communitiesTexts)
  return (
    <WindowList
      items={members}
      keyOf={idTagOf}
      nameOf={nameOf}
      label={t.members}
      isWhole={isWhole}
      estimate={86}
      class={personLine.people}
      itemClass={personLine.line}
      onEnd={onEnd}
    >
      {(member) => (
        <Member member={member} onManage={mayManage(own, member) ? () => onManage(member) : undefined} />
      )}
    </WindowList>
  )
}

const idTagOf = ({ idTag }: Profile) => idTag
const nameOf = ({ name, idTag }: Profile) => shownName(name, idTag)

interface MemberProps {
  readonly member: Profile
  /** Where one may manage it. */
  readonly onManage: (() => void) | undefined
}

function Member({ member, onManage }: MemberProps) {
  const t = useTexts(communitiesTexts)
  const isYou = ownIdTag() === member.idTag
  const role = communityRoles.find((each) => each === member.role) ?? 'public'
  const words = [t[`is:${role}`], isYou && t.isYou, isBanned(member) && t.isBanned]
  return (
    <PersonParts person={member} note={words.filter(Boolean).join(' · ')}>
      {onManage && !isYou && (
        <IconButton
          icon="ellipsis"
          label={t.manage(shownName(member.name, member.idTag))}
          onClick={onManage}
        />
      )}
    </PersonParts>
  )
}

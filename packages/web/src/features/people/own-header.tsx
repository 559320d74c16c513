import type { Profile } from '@kith/protocol'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Button } from '#ui/button.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { CropDialog } from './crop-dialog.tsx'
import { EditProfile } from './edit-profile.tsx'
import { peopleTexts } from './people-texts.ts'
import { PickPicture } from './pick-picture.tsx'
import { ProfileHeader } from './profile-header.tsx'

interface Picked {
  readonly place: 'image' | 'cover'
  readonly file: File
}

/** One's own profile, changed where it stands. */
export function OwnHeader({ profile }: { readonly profile: Profile }) {
  return (
    <ProfileHeader profile={profile}>
      <ProfileEditing profile={profile} />
    </ProfileHeader>
  )
}

/** Changes a profile in its place: one's own, or that of a community that one leads. */
export function ProfileEditing({ profile }: { readonly profile: Profile }) {
  const t = useTexts(peopleTexts)
  const [isEditing, setEditing] = useState(false)
  const [picked, setPicked] = useState<Picked>()
  const editButton = useRef<HTMLDivElement>(null)
  const wasEditing = useRef(false)
  useEffect(() => {
    if (wasEditing.current && !isEditing) editButton.current?.querySelector('button')?.focus()
    wasEditing.current = isEditing
  }, [isEditing])
  return (
    <>
      {isEditing ? (
        <EditProfile profile={profile} onDone={() => setEditing(false)} />
      ) : (
        <div ref={editButton} class="row">
          <Button needsServer icon="pencil" onClick={() => setEditing(true)}>
            {t.edit}
          </Button>
          <PickPicture label={t.changePicture} onPick={(file) => setPicked({ place: 'image', file })} />
          <PickPicture label={t.changeCover} onPick={(file) => setPicked({ place: 'cover', file })} />
        </div>
      )}
      {picked && <CropDialog {...picked} idTag={profile.idTag} onClose={() => setPicked(undefined)} />}
    </>
  )
}

import { Role } from "../../shared/protocol/index.ts";
import type { Authenticate } from "../auth/authenticator.ts";
import { isStorableId } from "../run/storable-id.ts";

/** Whether what an authenticator gave can be worked with. @throws Error saying what is missing */
export function usableIdentity(given: Awaited<ReturnType<Authenticate>> | null | undefined) {
  if (!given) return { refused: "You may not connect to this server." };
  if ("refused" in given) return given;
  const { tenant, user, role } = given;
  if (!isStorableId(tenant) || !isStorableId(user.id) || typeof user.name !== "string")
    throw new TypeError("authenticate() gave no usable tenant, user.id and user.name");
  if (role !== undefined && !Role.safeParse(role).success)
    throw new TypeError("authenticate() gave a role that is none of viewer, editor and owner");
  return given;
}

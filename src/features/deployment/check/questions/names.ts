/** The questions of a check, in the order in which they are asked. */
// biome-ignore format: a line for each phase
export const QUESTION_NAMES = [
  'pets100', 'pets', 'inventory', 'orders', 'pets1', 'pets2', 'nextPage', 'available', 'pending', 'sold',
  'pet', 'unknownPet',
  'limitText', 'petText', 'limit0', 'limit101', 'unseenFilter', 'unknownQuery', 'ordersPage', 'getOrder',
  'petsNoKey', 'petNoKey', 'inventoryNoKey', 'ordersNoKey', 'petsUnknownKey', 'petsInvalidKey', 'limitTextNoKey',
  'otherOrigin', 'preflight', 'petsReadOnly',
  'inventoryBefore', 'cancel', 'create', 'createPending', 'stock5', 'stockNegative', 'stock0', 'stock3', 'inventoryAfter',
  'cancelAgain', 'created', 'stockText', 'stockNothing', 'stockNoKey',
  'createLongName', 'createNoKey', 'createWithId', 'createUnknownField', 'createUnseenStatus',
  'createNoCategory', 'createAsText', 'createOver10kb', 'createOver1mb', 'createReadOnly',
  'cancelUnknown', 'cancelNoKey', 'cancelShipped', 'cancelCancelled',
  'petsAgain', 'petStocked', 'ordersAfter', 'burst',
] as const;

export type QuestionName = (typeof QUESTION_NAMES)[number];

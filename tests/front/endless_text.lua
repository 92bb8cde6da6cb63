-- Few instructions, each over a million bytes.
local long = ("x"):rep(1000000)
while true do long:upper() end

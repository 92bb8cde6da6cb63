local other = require "other"
return other

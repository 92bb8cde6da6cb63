-- good: Ã©
-- bad: é
return 1

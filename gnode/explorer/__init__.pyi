from gnode.explorer._explore import explore as explore
from gnode.explorer._portrait import Portrait as Portrait
from gnode.explorer._shipped import shipped_names as shipped_names

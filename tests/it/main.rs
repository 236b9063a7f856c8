use datafusion as _;fn main(){}
